import type { DataFolder } from './data-folder.ts';
import { startFunctionHost, type FunctionHost } from './lambda/function-host.ts';
import type { FunctionLog } from './lambda/function-log.ts';
import type { Gateway } from './gateway/gateway.ts';
import type { LocalStackOptions } from './local-stack-options.ts';
import { customResources } from './resources/custom-resource.ts';
import { httpRoutes } from './resources/http-api.ts';
import { lambdaFunctions } from './resources/lambda-function.ts';
import type { LocalResources } from './resources/local-resources.ts';
import { createQueues } from './resources/queue.ts';
import { schedules } from './resources/schedule.ts';
import { createTables } from './resources/table.ts';
import { runCustomResources } from './run-custom-resources.ts';
import { runSchedules } from './run-schedules.ts';

export interface RunTemplateOptions {
  readonly local: LocalResources;
  readonly options: LocalStackOptions;
  readonly folder: DataFolder;
  readonly services: { readonly dynamodb: string; readonly sqs: string; readonly secretsManager: string };
  readonly log: FunctionLog;
  readonly gateway: Gateway;
}

export interface RunningTemplate {
  readonly functions: FunctionHost;
  stop(): Promise<void>;
}

/**
 * Makes what the template says, in the order of a deployment: tables and queues, functions, custom resources, then
 * the routes and schedules that call them. Event source mappings would come with the schedules.
 */
export async function runTemplate({ local, options, folder, services, log, gateway }: RunTemplateOptions): Promise<RunningTemplate> {
  const { resources, context } = local;
  await Promise.all([createTables(resources, context, services.dynamodb), createQueues(resources, context)]);

  const routes = httpRoutes(resources, context);
  const scheduled = schedules(resources, context);
  const custom = customResources(resources, context);
  const behindRoutes = new Set(routes.map(({ functionArn }) => functionArn));
  const ofCustom = custom.flatMap(({ onEventArn, isCompleteArn }) => (isCompleteArn === undefined ? [onEventArn] : [onEventArn, isCompleteArn]));
  const called = new Set([...behindRoutes, ...scheduled.map(({ functionArn }) => functionArn), ...ofCustom]);
  const functions = startFunctionHost({
    definitions: lambdaFunctions(resources, context, called),
    mode: options.functions,
    shared: behindRoutes,
    sharedInstances: options.functionInstances,
    services: {
      AWS_ENDPOINT_URL_DYNAMODB: services.dynamodb,
      AWS_ENDPOINT_URL_SQS: services.sqs,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: services.secretsManager,
    },
    log,
  });
  try {
    await runCustomResources(custom, folder.customResources, functions.invoke);
  } catch (error) {
    await functions.stop();
    throw error;
  }
  gateway.serve(routes, functions.caller);
  const running = runSchedules(scheduled, functions.invoke, (message) => log.line('schedule', message));
  return {
    functions,
    async stop() {
      running.stop();
      await functions.stop();
    },
  };
}

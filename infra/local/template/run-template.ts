import type { DataFolder } from '../stack/data-folder.ts';
import { deleteFormerQueues } from '../stack/former-queues.ts';
import { startFunctionHost, type FunctionHost } from '../lambda/function-host.ts';
import type { FunctionLog } from '../lambda/function-log.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { LocalStackOptions } from '../stack/local-stack-options.ts';
import { customResources } from './resources/custom-resource.ts';
import { eventSources } from './resources/event-source.ts';
import { httpRoutes } from './resources/http-api.ts';
import { lambdaFunctions } from './resources/lambda-function.ts';
import type { LocalResources } from './resources/local-resources.ts';
import { createQueues, queueUrls } from './resources/queue.ts';
import { schedules } from './resources/schedule.ts';
import { createTables, tableNames } from './resources/table.ts';
import { runCustomResources } from './run-custom-resources.ts';
import { runEventSources, type RunningEventSources } from './run-event-sources.ts';
import { runSchedules } from './run-schedules.ts';
import { tailersOf, tailerWish, type Tailers } from '../stack/tailers.ts';

export interface RunTemplateOptions {
  readonly local: LocalResources;
  readonly options: LocalStackOptions;
  readonly folder: DataFolder;
  readonly services: {
    readonly dynamodb: string;
    readonly sqs: string;
    readonly secretsManager: string;
    readonly rdsData: string;
  };
  readonly log: FunctionLog;
  readonly gateway: Gateway;
}

export interface RunningTemplate {
  readonly functions: FunctionHost;
  readonly tailers: Tailers;
  /** Every queue of the template. */
  readonly queueUrls: readonly string[];
  /** Every table of the template. */
  readonly tableNames: readonly string[];
  readonly eventSources: Pick<RunningEventSources, 'status'>;
  /** Takes no more messages and starts nothing more; resolves once the calls for messages have ended. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Makes what the template says, in the order of a deployment: tables and queues, functions, custom resources, then the
 * routes, schedules and event source mappings that call them.
 */
export async function runTemplate({
  local,
  options,
  folder,
  services,
  log,
  gateway,
}: RunTemplateOptions): Promise<RunningTemplate> {
  const { resources, context } = local;
  await Promise.all([createTables(resources, context, services.dynamodb), createQueues(resources, context)]);

  const routes = httpRoutes(resources, context);
  const scheduled = schedules(resources, context);
  const sources = eventSources(resources, context);
  const custom = customResources(resources, context);
  const behindRoutes = new Set(routes.map(({ functionArn }) => functionArn));
  const ofCustom = custom.flatMap(({ onEventArn, isCompleteArn }) =>
    isCompleteArn === undefined ? [onEventArn] : [onEventArn, isCompleteArn],
  );
  const called = new Set([
    ...behindRoutes,
    ...[...scheduled, ...sources].map(({ functionArn }) => functionArn),
    ...ofCustom,
  ]);
  const definitions = lambdaFunctions(resources, context, called).map((definition) => ({
    ...definition,
    memoryMb: options.functionMemory ?? definition.memoryMb,
    nodeFlags: options.functionArguments,
  }));
  const functions = startFunctionHost({
    definitions,
    mode: options.functions,
    shared: behindRoutes,
    sharedInstances: options.functionInstances,
    idleMs: options.functionIdleSeconds * 1000,
    services: {
      AWS_ENDPOINT_URL_DYNAMODB: services.dynamodb,
      AWS_ENDPOINT_URL_SQS: services.sqs,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: services.secretsManager,
      AWS_ENDPOINT_URL_RDS_DATA: services.rdsData,
    },
    log,
  });
  const { invoke } = functions;
  try {
    await runCustomResources(custom, folder.customResources, invoke);
    const urls = queueUrls(resources, context);
    await deleteFormerQueues({ file: folder.queues, urls, sqsUrl: services.sqs, log: options.log });
    const wish = tailerWish(scheduled, definitions, services.dynamodb);
    if (options.tailers !== undefined) await wish?.write(options.tailers);
    const slots = await wish?.read();

    gateway.serve(routes, functions.caller);
    const runningSchedules = runSchedules({
      schedules: scheduled,
      slots,
      invoke,
      onError: (message) => log.line('schedule', message),
    });
    const runningSources = runEventSources({
      definitions: sources,
      sqsUrl: services.sqs,
      invoke,
      onError: (message) => log.line('queue', message),
    });
    const settle = async (): Promise<void> => {
      runningSchedules.stop();
      await runningSources.stop();
    };
    return {
      functions,
      tailers: tailersOf(runningSchedules, wish),
      queueUrls: urls,
      tableNames: tableNames(resources, context),
      eventSources: runningSources,
      settle,
      async stop() {
        await settle();
        await functions.stop();
      },
    };
  } catch (error) {
    await functions.stop();
    throw error;
  }
}

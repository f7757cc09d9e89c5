import type { DataFolder } from '../folder/data-folder.ts';
import { deleteFormerQueues, rememberQueues, changeQueues, createQueues, queueUrls } from './resources/queue.ts';
import { startFunctionHost } from '../lambda/function-host.ts';
import type { FunctionMode } from '../lambda/function-definition.ts';
import type { FunctionLog } from '../lambda/function-log.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { RightsByKey } from '../iam/rights.ts';
import { customResources } from './resources/custom-resource.ts';
import { eventSources } from './resources/event-source.ts';
import { corsRules, httpRoutes } from './resources/http-api.ts';
import { lambdaFunctions } from './resources/lambda-function.ts';
import type { LocalResources } from './resources/local-resources.ts';
import { rightsOfApiGateway, checkRolesOfSchedules, rightsOfRoles } from './resources/role.ts';
import { schedules } from './resources/schedule.ts';
import { proxiesIn } from './resources/proxy.ts';
import { createTables, tableNames } from './resources/table.ts';
import { runCustomResources } from './run-custom-resources.ts';
import { runEventSources } from './run-event-sources.ts';
import { runSchedules } from './run-schedules.ts';
import { tailersOf, desiredTailers, type DesiredTailers } from './tailers.ts';
import { messageOf } from '../message-of.ts';

export interface TemplateOptions {
  readonly functions: FunctionMode;
  /** Requests that an instance of an API function takes at once, 1 to 1,000. Undefined: all. */
  readonly concurrency?: number | undefined;
  /** Tailing workers, 1 to 64. Undefined: as last time, 1 at first. */
  readonly tailers?: number | undefined;
  /** Heap of each instance in MB, 64 to 10,240. Undefined: the template's. */
  readonly functionMemory?: number | undefined;
  /** Ends an instance after so long without a call; 0 = never. Functions that start each minute need more than 60. */
  readonly functionIdleSeconds: number;
  readonly functionArguments: readonly string[];
  readonly log: (line: string) => void;
}

interface RunTemplateOptions {
  readonly options: TemplateOptions;
  readonly folder: DataFolder;
  readonly services: {
    readonly dynamodb: string;
    readonly sqs: string;
    readonly secretsManager: string;
    readonly rdsData: string;
  };
  readonly log: FunctionLog;
  readonly gateway: Gateway;
  /** Makes each service judge functions by these rights. */
  readonly setRights: (rights: RightsByKey) => Promise<void>;
}

export interface StackQueue {
  readonly name: string;
  readonly url: string;
  /** The title of the function. */
  readonly calls: string | undefined;
  readonly callsNow: number;
}

/** Runs a template, and later ones after it. */
export type RunningTemplate = ReturnType<typeof runTemplate>;

export function runTemplate({ options, folder, services, log, gateway, setRights }: RunTemplateOptions) {
  let isFirst = true;
  let desired: DesiredTailers | undefined;
  let urls: readonly string[] = [];
  let tables: readonly string[] = [];
  let rights: RightsByKey = {};
  const functions = startFunctionHost({
    mode: options.functions,
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
  const runningSchedules = runSchedules({ invoke, onError: (message) => log.line('schedule', message) });
  const runningSources = runEventSources({
    sqsUrl: services.sqs,
    invoke,
    onError: (message) => log.line('queue', message),
  });

  /**
   * Applies a template in a deployment's order: tables and queues, functions, custom resources, then routes, schedules
   * and event sources; removed queues last. Unchanged parts keep running. If a part fails, everything before it keeps
   * running, and the next template removes what was made. Not concurrent. `areRestarted`: replaces unchanged functions
   * as well. Returns the titles of new and changed functions.
   */
  async function take({ resources, context }: LocalResources, areRestarted = false): Promise<readonly string[]> {
    // Steps that may fail come before the functions take over.
    const parts = partsOf({ resources, context }, options);
    const cors = corsRules(resources, context);
    const [wantedUrls, wantedTables] = [queueUrls(resources, context), tableNames(resources, context)];
    rememberQueues({ file: folder.queues, urls: wantedUrls });
    const [changes] = await Promise.all([
      createQueues(resources, context),
      createTables(resources, context, services.dynamodb),
    ]);
    const bearers = [...parts.definitions, ...parts.scheduled, ...proxiesIn(resources, context)];
    const wantedRights = {
      ...rightsOfRoles(resources, context, bearers, (why) => log.line('iam', why)),
      ...rightsOfApiGateway(resources, context),
    };
    // The former functions keep their rights until then.
    await setRights({ ...rights, ...wantedRights });
    const made = functions.make({ ...parts, areRestarted });
    let slots: number | undefined;
    try {
      await runCustomResources(parts.custom, isFirst ? 'all' : 'changed', folder.customResources, made.invoke);
      desired = desiredTailers(parts.scheduled, parts.definitions, services.dynamodb);
      if (isFirst && options.tailers !== undefined) await desired?.write(options.tailers);
      slots = await desired?.read();
      // Before their functions, which may take longer now.
      await changeQueues(changes, context);
    } catch (error) {
      await made.drop();
      await setRights(rights);
      throw error;
    }

    made.takeOver();
    gateway.serve(parts.routes, functions.caller, cors);
    const changed = new Set(made.changed.map(({ arn }) => arn));
    runningSchedules.take({ schedules: parts.scheduled, slots, changed });
    await runningSources.take(parts.sources);
    rights = wantedRights;
    urls = wantedUrls;
    tables = wantedTables;
    isFirst = false;
    await tidy();
    return made.changed.map(({ title }) => title);
  }

  /** A queue that cannot be deleted fails nothing. */
  async function tidy(): Promise<void> {
    try {
      await deleteFormerQueues({ file: folder.queues, urls, sqsUrl: services.sqs, log: options.log });
    } catch (error) {
      options.log(
        `queues that are not defined any more could not be deleted, which is tried again with the next change or start: ${messageOf(error)}`,
      );
    }
  }

  const settle = async (): Promise<void> => {
    runningSchedules.stop();
    await runningSources.stop();
  };
  return {
    take,
    functions,
    get rights() {
      return rights;
    },
    schedules: { setRights: runningSchedules.setRights },
    tailers: tailersOf(runningSchedules, () => desired),
    get queueUrls() {
      return urls;
    },
    get tableNames() {
      return tables;
    },
    queues: () =>
      urls.map((url) => {
        const { functionArn, calls = 0 } = runningSources.of(url) ?? {};
        const title = functions.status().find(({ arn }) => arn === functionArn)?.title;
        return { name: url.slice(url.lastIndexOf('/') + 1), url, calls: title, callsNow: calls };
      }),
    /** Stops schedules and polling; resolves once the calls for messages have ended. */
    settle,
    async stop() {
      await settle();
      await functions.stop();
    },
  };
}

function partsOf(
  { resources, context }: Pick<LocalResources, 'resources' | 'context'>,
  { functions, concurrency = Infinity, functionMemory, functionArguments }: TemplateOptions,
) {
  const routes = httpRoutes(resources, context);
  const scheduled = schedules(resources, context);
  checkRolesOfSchedules(resources, context, scheduled);
  const sources = eventSources(resources, context);
  const custom = customResources(resources, context);
  // A run and its successor share a thread: another instance takes 35 MB.
  const loops = functions === 'threads' ? scheduled.filter(({ slot }) => slot === undefined) : [];
  const atOnce = new Map([
    ...loops.map(({ functionArn }) => [functionArn, Infinity] as const),
    ...routes.map(({ functionArn }) => [functionArn, concurrency] as const),
  ]);
  const ofCustom = custom.flatMap(({ onEventArn, isCompleteArn }) =>
    isCompleteArn === undefined ? [onEventArn] : [onEventArn, isCompleteArn],
  );
  const called = new Set([...[...routes, ...scheduled, ...sources].map(({ functionArn }) => functionArn), ...ofCustom]);
  const definitions = lambdaFunctions(resources, context, called).map((definition) => ({
    ...definition,
    memoryMb: functionMemory ?? definition.memoryMb,
    nodeFlags: functionArguments,
  }));
  return { routes, scheduled, sources, custom, definitions, atOnce };
}

import { resolve } from 'node:path';
import { awsLogin } from '../login/aws-login.ts';
import { commandsOf } from '../control/commands.ts';
import { startControlServer } from '../control/control-server.ts';
import { dataFolder, makeDataFolder } from '../folder/data-folder.ts';
import { startSecretsManager } from '../emulators/secrets-manager.ts';
import { startRdsData } from '../emulators/rds-data.ts';
import { openService } from '../emulators/open-service.ts';
import { endpointsOf, keepEndpointsFile } from '../running/endpoints.ts';
import { lockFolder } from '../folder/folder-lock.ts';
import { readNumber, writeNumber } from '../folder/state-file.ts';
import { openFunctionLog, openLogFile } from '../lambda/function-log.ts';
import { groupCount, rememberGroupCount } from './group-count.ts';
import { startWantedGroups } from './start-groups.ts';
import { readRights, type RightsByKey } from '../iam/rights.ts';
import { openGateway } from '../gateway/gateway.ts';
import { DEFAULT_OPTIONS, type LocalStackOptions } from './local-stack-options.ts';
import { showProgress } from './progress.ts';
import type { LocalStack } from '../running/running-stack.ts';
import { runTemplate } from '../template/run-template.ts';
import { stackSources } from './stack-sources.ts';
import { takeSources } from './take-sources.ts';
import { createdDatastores } from '../running/created-datastores.ts';

/** Synthesizes `environment=local` and runs it on real MySQL. Throws, all stopped, if a part fails. */
export async function startLocalStack(given: Partial<LocalStackOptions> = {}): Promise<LocalStack> {
  const desired = { ...DEFAULT_OPTIONS, ...given };
  const folder = dataFolder(resolve(desired.data));
  const options = {
    ...desired,
    groups: groupCount(folder, desired.groups, desired.groupsAtFirst),
    shards: desired.shards ?? readNumber(folder.mostShards) ?? desired.shardsAtFirst,
    keepCopies: desired.keepCopies ?? readNumber(folder.keepCopies) ?? 0,
  };
  const sources = stackSources(options, folder);
  const { environment, definitions } = sources.read();
  makeDataFolder(folder.root);

  const progress = showProgress(options.log);
  const parts = new AsyncDisposableStack();
  try {
    const lock = lockFolder(folder.root);
    parts.defer(() => lock.release());
    rememberGroupCount(folder, options.groups);
    writeNumber(folder.mostShards, options.shards);
    writeNumber(folder.keepCopies, options.keepCopies);
    const log = openFunctionLog(folder.functionLog, folder.metricLog);
    parts.defer(() => log.close());
    const requests = openLogFile(folder.requestLog);
    parts.defer(() => requests.close());
    const closing = <T extends { close(): Promise<void> }>(part: T): T => {
      parts.defer(() => part.close());
      return part;
    };
    // A refused loop retries: each refusal is logged once.
    const refusals = new Set<string>();
    const onRefused = (why: string): void => {
      if (refusals.has(why)) return;
      if (refusals.size < MOST_REFUSALS) refusals.add(why);
      log.line('iam', why);
    };
    // First, so that a port in use is known before anything else starts.
    const gateway = await openGateway(options.port, (message) => log.line('gateway', message), {
      credentials: options.checkSignatures ? awsLogin().credentials : undefined,
      onAnswer: (line) => requests.line('gateway', JSON.stringify(line)),
    });
    parts.defer(() => gateway.close());

    const synthesis = progress.during('making templates and bundles', sources.synthesize());
    const [made, groups, dynamodb, sqs, secretsManager] = await allOrFirstError([
      synthesis,
      progress.during(
        'starting servers',
        startWantedGroups({ options, environment, definitions, folder, synthesis, defer: (stop) => parts.defer(stop) }),
      ),
      openService('dynamodb', folder, options.log, onRefused).then(closing),
      openService('sqs', folder, options.log, onRefused).then(closing),
      startSecretsManager(onRefused).then(closing),
    ]);

    const rdsData = closing(await startRdsData(groups.groups, secretsManager.url, onRefused));
    const world = {
      // Groups can be added.
      get groups() {
        return groups.groups;
      },
      httpUrl: gateway.url,
      sqsUrl: sqs.url,
      queueSuffix: sqs.suffix,
      tableSuffix: dynamodb.suffix,
    };
    const services = { dynamodb: dynamodb.url, sqs: sqs.url, secretsManager: secretsManager.url, rdsData: rdsData.url };
    const judges = [dynamodb, sqs, secretsManager, rdsData, gateway];
    let rightsNow = readRights({});
    const setRights = async (rights: RightsByKey): Promise<void> => {
      rightsNow = readRights(rights);
      await Promise.all([...judges, running.schedules].map((judge) => judge.setRights(rights)));
      refusals.clear();
    };
    const running = runTemplate({ options, folder, services, log, gateway, setRights });
    parts.defer(() => running.stop());
    const taking = takeSources({
      sources,
      running,
      groups,
      world,
      secretsManager,
      rdsData,
      dynamodbUrl: dynamodb.url,
      rightsNow: () => rightsNow,
      onRefused,
    });
    await progress.during(
      'making tables and queues, bringing the databases up to date',
      taking.take({ definitions, ...made }),
    );

    const serviceEndpoints = {
      http: gateway.url,
      sqs: sqs.url,
      dynamodb: dynamodb.url,
      tables: running.tableNames,
      rdsData: rdsData.url,
    };
    keepEndpointsFile(folder.endpoints, groups, serviceEndpoints);
    const created = await createdDatastores(running.tableNames, dynamodb.url);
    const stack: LocalStack = {
      url: gateway.url,
      get endpoints() {
        return endpointsOf(groups, serviceEndpoints);
      },
      groups,
      functions: running.functions,
      tailers: running.tailers,
      queues: () => running.queues(),
      sources: () => taking.sources,
      takeOver: () => taking.takeOver(),
      addGroup: () => taking.addGroup(),
      get datastores() {
        return taking.datastores;
      },
      retiredDatastores: created.filter(({ isRetired }) => isRetired),
      services: { dynamodb, sqs },
      get rights() {
        return running.rights;
      },
      setRights,
      functionLog: log.path,
      killFunction: (title) => running.functions.kill(title),
      stop: () => parts.disposeAsync(),
    };
    closing(await startControlServer(folder.control, commandsOf(stack, folder.root)));
    // Last in, first out: calls for messages end before the API, and functions last.
    parts.defer(() => gateway.close());
    parts.defer(() => running.settle());
    parts.defer(() => taking.close());
    return stack;
  } catch (error) {
    await parts.disposeAsync();
    throw error;
  } finally {
    progress.end();
  }
}

const MOST_REFUSALS = 1000;

/** Waits for all, so that everything started can be stopped, then throws the first error. */
async function allOrFirstError<T extends readonly unknown[]>(
  promises: readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T> {
  await Promise.allSettled(promises);
  return (await Promise.all(promises)) as unknown as T;
}

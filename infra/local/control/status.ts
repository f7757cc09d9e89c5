import { apiClient } from '../../../shared/client/api-client.ts';
import type { TriggerSummary } from '../../../shared/api/trigger-shapes.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import type { DeployedTrigger } from '../../../shared/topology/topology.ts';
import { queueCounts, type QueueCounts } from '../event-sources/queue-of-source.ts';
import { dynamoClient, onceWithin, sqsClient, localSigner } from '../login/clients.ts';
import { residentBytes } from '../platform/process-table.ts';
import { tableOf } from '../running/endpoints.ts';
import type { LocalStack } from '../running/running-stack.ts';
import type { StackQueue } from '../template/run-template.ts';
import { filesBelow } from './files-below.ts';

export type ObservedStack = Pick<
  LocalStack,
  'groups' | 'functions' | 'services' | 'url' | 'functionLog' | 'tailers' | 'queues' | 'datastores' | 'endpoints'
>;

export type StackStatus = Awaited<ReturnType<typeof statusOf>>;

export async function statusOf(stack: ObservedStack, data: string) {
  const { groups, functions, services, url, functionLog, tailers, queues } = stack;
  const deployed = await deployedTriggers(stack);
  const [triggers, counted] = await Promise.all([
    triggerStatus(deployed, url),
    queueStatus([...queues(), ...appliedQueues(deployed, queues())], services.sqs.url),
  ]);
  const called = functions.status();
  const memory = (pids: readonly number[]): number =>
    [...new Set(pids)].reduce((sum, pid) => sum + residentBytes(pid), 0);
  return {
    url,
    pid: process.pid,
    /** Bytes: of memory, and of what the data folder's files take. */
    weight: {
      stackMemory: memory([process.pid, ...called.flatMap(({ instances }) => instances.map(({ pid }) => pid))]),
      serverMemory: memory(groups.status().map(({ pid }) => pid)),
      disk: filesBelow(data).disk.taken,
    },
    engine: `${groups.engine.kind} ${groups.engine.version}`,
    nodes: groups.status(),
    functions: called,
    functionMode: functions.mode,
    functionLog,
    tailers: tailers.count,
    triggers,
    queues: counted,
  };
}

export interface TriggerState {
  readonly datastore: string;
  readonly trigger: string;
  readonly summary?: TriggerSummary;
}

const API_MS = 5000;

type Triggers = readonly (Pick<DeployedTrigger, 'queueUrl' | 'parkedQueueUrl'> & { readonly name: string })[];

/** Returns all triggers by datastore, those made by `apply` included; without DynamoDB those of the deployment. */
async function deployedTriggers({ endpoints, datastores }: ObservedStack): Promise<ReadonlyMap<string, Triggers>> {
  using client = dynamoClient(endpoints.dynamodb, onceWithin(API_MS));
  const topology = dynamoTopology({ client, table: tableOf(endpoints, 'topology') });
  try {
    const served = (await topology.served()).map(async (name) => {
      const triggers = await topology.triggers(name);
      return [name, triggers.map(({ definition, ...queues }) => ({ name: definition.name, ...queues }))] as const;
    });
    return new Map(await Promise.all(served));
  } catch {
    const unknown = { queueUrl: '', parkedQueueUrl: '' };
    return new Map(datastores.map(({ name, triggers }) => [name, triggers.map((one) => ({ ...one, ...unknown }))]));
  }
}

/** Returns the queues that no template has. */
function appliedQueues(deployed: ReadonlyMap<string, Triggers>, queues: readonly StackQueue[]): readonly StackQueue[] {
  const known = new Set(['', ...queues.map(({ url }) => url)]);
  return [...deployed.values()]
    .flatMap((triggers) => triggers.flatMap(({ queueUrl, parkedQueueUrl }) => [queueUrl, parkedQueueUrl]))
    .filter((url) => !known.has(url))
    .map((url) => ({ name: url.slice(url.lastIndexOf('/') + 1), url, calls: undefined, callsNow: 0 }));
}

async function triggerStatus(deployed: ReadonlyMap<string, Triggers>, url: string): Promise<readonly TriggerState[]> {
  const asked = [...deployed].map(async ([datastore, triggers]): Promise<readonly TriggerState[]> => {
    if (triggers.length === 0) return [];
    const api = apiClient({ url, datastore, attempts: 1, timeoutMs: API_MS, sign: localSigner() });
    // A function that stands in for the API's answers something else.
    const known: Partial<Awaited<ReturnType<typeof api.listTriggers>>> = await api.listTriggers().catch(() => ({}));
    return triggers.map(({ name: trigger }) => {
      const summary = known.triggers?.find((one) => one.trigger === trigger);
      return { datastore, trigger, ...(summary && { summary }) };
    });
  });
  return (await Promise.all(asked)).flat();
}

export interface QueueStatus extends StackQueue, Partial<QueueCounts> {}

const QUEUE_MS = 2000;

export async function queueStatus(queues: readonly StackQueue[], sqsUrl: string): Promise<readonly QueueStatus[]> {
  using client = sqsClient(sqsUrl, onceWithin(QUEUE_MS));
  return await Promise.all(
    queues.map(async (queue) => ({ ...queue, ...(await queueCounts(client, queue.url).catch(() => ({}))) })),
  );
}

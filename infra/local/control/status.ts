import { apiClient } from '../../../shared/client/api-client.ts';
import type { TriggerSummary } from '../../../shared/api/trigger-shapes.ts';
import type { DatastoreDefinition } from '../../../shared/definitions/definitions.ts';
import { queueCounts, type QueueCounts } from '../event-sources/queue-of-source.ts';
import type { FunctionStatus } from '../lambda/function-host.ts';
import { onceWithin, sqsClient } from '../login/clients.ts';
import { localSigner } from '../login/local-signer.ts';
import type { NodeStatus } from '../mysql/node-status.ts';
import { residentBytes } from '../platform/process-table.ts';
import type { LocalStack } from '../running/running-stack.ts';
import type { StackQueue } from '../template/run-template.ts';
import { filesBelow } from './files-below.ts';

export interface StackStatus {
  readonly url: string;
  readonly pid: number;
  readonly engine: string;
  /** Bytes: of memory, and of what the data folder's files take. */
  readonly weight: { readonly stackMemory: number; readonly serverMemory: number; readonly disk: number };
  readonly nodes: readonly NodeStatus[];
  readonly functions: readonly FunctionStatus[];
  readonly functionMode: string;
  readonly functionLog: string;
  readonly tailers: number;
  readonly triggers: readonly TriggerState[];
  readonly queues: readonly QueueStatus[];
}

export type ObservedStack = Pick<
  LocalStack,
  'groups' | 'functions' | 'services' | 'url' | 'functionLog' | 'tailers' | 'queues' | 'datastores'
>;

export async function statusOf(
  { groups, functions, services, url, functionLog, tailers, queues, datastores }: ObservedStack,
  data: string,
): Promise<StackStatus> {
  const [triggers, counted] = await Promise.all([
    triggerStatus(datastores, url),
    queueStatus(queues(), services.sqs.url),
  ]);
  const called = functions.status();
  const memory = (pids: readonly number[]): number =>
    [...new Set(pids)].reduce((sum, pid) => sum + residentBytes(pid), 0);
  return {
    url,
    pid: process.pid,
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

async function triggerStatus(
  datastores: readonly DatastoreDefinition[],
  url: string,
): Promise<readonly TriggerState[]> {
  const asked = datastores.map(async ({ name: datastore, triggers }): Promise<readonly TriggerState[]> => {
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

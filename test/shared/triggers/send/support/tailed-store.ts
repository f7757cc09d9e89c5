import { randomUUID } from 'node:crypto';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { afterAll, afterEach } from 'vitest';
import type { TriggerOperations } from '../../../../../shared/api/triggers.ts';
import type { FollowEvent } from '../../../../../shared/follow/follower.ts';
import type { TriggerManagementOptions } from '../../../../../shared/triggers/manage/managed-trigger.ts';
import { triggerManagement } from '../../../../../shared/triggers/manage/trigger-management.ts';
import type { TriggerDefinition } from '../../../../../shared/definitions/definitions.ts';
import type { SqlClient } from '../../../../../shared/sql/client.ts';
import type { StoreContext } from '../../../../../shared/access/context.ts';
import { sqsQueues, type SendingQueues } from '../../../../../shared/triggers/state/queues.ts';
import { runTailers } from '../../../../../shared/triggers/send/run-tailers.ts';
import type { TailRun, TailEvent } from '../../../../../shared/triggers/send/tail-work.ts';
import type { DeployedTrigger } from '../../../../../shared/topology/topology.ts';
import { triggerStore } from '../../../../../shared/triggers/state/dynamo-trigger-store.ts';
import type { TriggerMessage } from '../../../../../shared/triggers/state/trigger-store.ts';
import { statusKey } from '../../../../../shared/triggers/state/trigger-items.ts';
import { parseMessage } from '../../../../../shared/triggers/state/queue-message.ts';
import { triggerNamed } from '../../../../support/trigger-named.ts';
import { drainQueue, startSqs, type LocalSqs } from '../../../../support/sqs.ts';
import { until } from '../../../../support/until.ts';
import { openFollowedStore, type FollowedStore } from '../../../follow/support/followed-store.ts';
import { openGate, type Gate } from '../../../follow/support/gate.ts';
import { stopConsuming } from './consuming.ts';

export type TailedStore = Awaited<ReturnType<typeof openWithTriggers>>;
export type TailedTrigger = ReturnType<typeof tailedTrigger>;
type Received = TriggerMessage & { readonly group: string };

type TriggerRequest = Partial<TriggerDefinition> & { readonly name: string };

export async function deployedTrigger(
  sqs: LocalSqs,
  desired: TriggerRequest,
  receipts?: number,
): Promise<DeployedTrigger> {
  const definition = triggerNamed(desired.name, desired);
  if (receipts === undefined) return { definition, queueUrl: await sqs.newQueue(), parkedQueueUrl: '' };
  const parkedQueueUrl = await sqs.newQueue();
  const { Attributes } = await sqs.client.send(
    new GetQueueAttributesCommand({ QueueUrl: parkedQueueUrl, AttributeNames: ['QueueArn'] }),
  );
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: Attributes?.QueueArn, maxReceiveCount: receipts });
  return { definition, queueUrl: await sqs.newQueue({ RedrivePolicy }), parkedQueueUrl };
}

async function openWithTriggers(
  sqs: LocalSqs,
  shards: number,
  deployed: readonly DeployedTrigger[],
  wrap?: (client: SqlClient, group: string) => SqlClient,
) {
  const followed = await openFollowedStore(shards, wrap, deployed);
  const triggers = new Map(deployed.map((one) => [one.definition.name, tailedTrigger(sqs, followed, one)]));
  return {
    ...followed,
    operations: (options?: Partial<TriggerManagementOptions>): Promise<TriggerOperations> =>
      triggerManagement({
        context: followed.store.context,
        stateTable: followed.stateTable,
        queues: sqsQueues(sqs.client),
        ...options,
      }).triggers(followed.datastore),
    trigger(name: string): TailedTrigger {
      const trigger = triggers.get(name);
      if (!trigger) throw new Error(`no trigger ${name}`);
      return trigger;
    },
  };
}

export function tailedTrigger(sqs: LocalSqs, { stateTable, datastore }: FollowedStore, deployed: DeployedTrigger) {
  const received: Received[] = [];
  const { name } = deployed.definition;
  /** Takes off the queue what is there, and returns all that was received so far. */
  const receive = async (): Promise<readonly Received[]> => {
    for (const { Body = '', Attributes } of await drainQueue(sqs, deployed.queueUrl))
      received.push({ ...parseMessage(Body), group: Attributes?.MessageGroupId ?? '' });
    return received;
  };
  return {
    deployed,
    received,
    receive,
    store: triggerStore(stateTable, { datastore, trigger: name }),
    gets: (count: number) => until(`${name} gets ${count} messages`, async () => (await receive()).length === count),
    getsCells: (count: number) =>
      until(`${name} gets ${count} cells`, async () => namesIn(await receive()).size === count),
  };
}

/**
 * SQS for the tests of a file, and stores with triggers that they open. Tailers and consumers are stopped after each
 * test.
 */
export async function sharedTailing(shards: number) {
  const sqs = await startSqs();
  afterAll(() => sqs.stop());
  const opened: TailedStore[] = [];
  const keep = (tailed: TailedStore): TailedStore => (opened.push(tailed), tailed);
  afterEach(stopConsuming);
  afterEach(stopTailers);
  afterAll(async () => {
    for (const tailed of opened) await tailed.close();
  });
  return {
    sqs,
    open: async (requests: readonly TriggerRequest[], wrap?: Parameters<typeof openWithTriggers>[3]) =>
      keep(
        await openWithTriggers(
          sqs,
          shards,
          await Promise.all(requests.map((desired) => deployedTrigger(sqs, desired))),
          wrap,
        ),
      ),
    openDeployed: async (deployed: readonly DeployedTrigger[]) => keep(await openWithTriggers(sqs, shards, deployed)),
  };
}

export function followEvents<Kind extends FollowEvent['kind']>(
  { events }: Pick<Tailer, 'events'>,
  kind: Kind,
  trigger?: string,
): Extract<FollowEvent, { kind: Kind }>[] {
  return events.flatMap((event) =>
    event.kind === 'followed' && event.event.kind === kind && (trigger === undefined || event.trigger === trigger)
      ? [event.event as Extract<FollowEvent, { kind: Kind }>]
      : [],
  );
}

export function heldBy(tailer: Tailer): number {
  const count = (kind: FollowEvent['kind']): number => followEvents(tailer, kind).length;
  return count('partition_taken') - count('partition_released') - count('partition_lost');
}

/** Waits until a worker knows what the state of a trigger was now, as it asks for that again and again. */
export async function hasPolled({ gate }: Tailer, { datastore }: TailedStore, trigger: string): Promise<void> {
  const asked = (): number => gate.asked.get(statusKey({ datastore, trigger })) ?? 0;
  const before = asked();
  // The second begins once the first has ended.
  await until('it polled twice', () => asked() > before + 2);
}

export function cellsOf({ events }: Tailer, kind: 'sent' | 'retried'): number {
  return events.reduce((sum, event) => sum + (event.kind === kind ? event.cells : 0), 0);
}

interface Tailer {
  readonly events: TailEvent[];
  readonly gate: Gate;
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

const running = new Set<Tailer>();

async function stopTailers(): Promise<void> {
  for (const { gate } of running) gate.state = 'open';
  await Promise.all([...running].map((tailer) => tailer.stop()));
  running.clear();
}

type DesiredTailers = Partial<Omit<TailRun, 'queues'>>;

export function startTailer(sqs: LocalSqs, tailed: FollowedStore, desired: DesiredTailers = {}): Tailer {
  const { settings, ...rest } = desired;
  const gate = openGate();
  const events: TailEvent[] = [];
  const stopping = new AbortController();
  const { context } = tailed.store;
  const gated: StoreContext = {
    ...context,
    groups: { ...context.groups, client: async (group) => gate.sql(await context.groups.client(group)) },
  };
  const ended = runTailers({
    context: gated,
    topologyTable: tailed.store.topologyTable,
    stateTable: gate.table(tailed.stateTable),
    queues: gatedQueues(sqsQueues(sqs.client), gate),
    owner: randomUUID(),
    slot: 0,
    // Clock: later than any test lasts.
    deadline: Date.now() + 3_600_000,
    signal: stopping.signal,
    heartbeat: { heartbeatMs: 100, silenceMs: 3000 },
    report: (event) => void events.push(event),
    // One for each shard, so that who has which can be seen by the shard.
    partitions: tailed.shards,
    ...rest,
    settings: {
      pollMs: 100,
      listMs: 300,
      depthEveryMs: 100,
      commitEveryMs: 100,
      pageCells: 20,
      pauses: { leastMs: 10, mostMs: 40 },
      ...settings,
    },
  });
  const tailer: Tailer = {
    events,
    gate,
    ended,
    async stop() {
      stopping.abort();
      await ended;
    },
  };
  running.add(tailer);
  return tailer;
}

function gatedQueues({ send, depth }: SendingQueues, gate: Gate): SendingQueues {
  return {
    async send(queueUrl, messages) {
      await gate.pass();
      const results = await send(queueUrl, messages);
      await gate.pass();
      return results;
    },
    depth,
  };
}

export function idsOf(received: readonly Received[], shard: number): number[] {
  return received.filter(({ group }) => group === String(shard)).map(({ added_id }) => added_id);
}

function namesIn(received: readonly TriggerMessage[]): Set<string> {
  return new Set(received.map(({ shard, added_id }) => `${shard}/${added_id}`));
}

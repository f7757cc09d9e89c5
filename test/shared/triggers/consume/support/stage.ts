import { afterAll, inject } from 'vitest';
import { consumeBatch, type BatchLimits } from '../../../../../shared/triggers/consume/consume-batch.ts';
import {
  openConsumer,
  type ConsumeEvent,
  type ConsumeSettings,
} from '../../../../../shared/triggers/consume/consumer.ts';
import type { ConsumerQueue, QueueRecord } from '../../../../../shared/triggers/consume/queue-record.ts';
import type { TriggerFunction } from '../../../../../shared/triggers/consume/trigger-function.ts';
import { triggerClients } from '../../../../../shared/triggers/consume/trigger-clients.ts';
import type { TriggerDefinition } from '../../../../../shared/definitions/definitions.ts';
import type { DynamoTable } from '../../../../../shared/dynamo/table.ts';
import { triggerStore, type TriggerStore } from '../../../../../shared/triggers/state/dynamo-trigger-store.ts';
import type { TriggerMessage } from '../../../../../shared/triggers/state/trigger-store.ts';
import { encodeMessage, groupId, retryGroupId } from '../../../../../shared/triggers/state/queue-message.ts';
import { dynamoClient, newTable } from '../../../../support/dynamo.ts';
import { triggerNamed } from '../../../../support/trigger-named.ts';

export const DATASTORE = 'trips';
export const TRIGGER = 'bill_rider';

export function messageOf(shard: number, added_id: number, changes: Partial<TriggerMessage> = {}): TriggerMessage {
  return {
    datastore: DATASTORE,
    trigger: TRIGGER,
    shard,
    added_id,
    row_key: `00000000-0000-4000-8000-${String(shard).padStart(4, '0')}${String(added_id).padStart(8, '0')}`,
    column_name: 'BASE',
    ref_key: 1,
    created_at: `2026-01-31T08:00:00.${String(added_id).padStart(6, '0')}Z`,
    replay: false,
    generation: 0,
    ...changes,
  };
}

export function cellOf({ shard, added_id }: Pick<TriggerMessage, 'shard' | 'added_id'>): string {
  return `${shard}/${added_id}`;
}

interface StageOptions {
  readonly definition?: Partial<TriggerDefinition>;
  readonly settings?: Partial<ConsumeSettings>;
  readonly fn?: TriggerFunction;
  readonly atOnce?: number;
  readonly visibilitySeconds?: number;
  readonly store?: (store: TriggerStore) => Partial<TriggerStore>;
  readonly queue?: (queue: ConsumerQueue) => ConsumerQueue;
  readonly url?: string;
}

/** Returns a FIFO queue in memory, whose time passes only while a consumer waits for messages. */
function memoryQueue(visibilitySeconds: number) {
  type Held = { -readonly [Key in keyof QueueRecord]: QueueRecord[Key] } & { visibleAt: number };
  let messages: Held[] = [];
  let seconds = 0;
  let sent = 0;

  /** A group of which a message is hidden gives none, as with SQS. */
  const visible = (): Held[] => {
    const blocked = new Set(messages.filter(({ visibleAt }) => visibleAt > seconds).map(({ groupId }) => groupId));
    return messages.filter(({ groupId }) => !blocked.has(groupId)).slice(0, 10);
  };
  return {
    send(body: string, groupId: string): void {
      sent += 1;
      const messageId = String(sent);
      messages.push({
        messageId,
        receiptHandle: messageId,
        body,
        groupId,
        receipts: 0,
        sentAt: new Date().getTime(),
        visibleAt: 0,
      });
    },
    receive(waitSeconds: number): QueueRecord[] {
      for (const end = seconds + waitSeconds; visible().length === 0 && seconds < end;) seconds += 1;
      return visible().map((one) => {
        one.receipts += 1;
        one.visibleAt = seconds + visibilitySeconds;
        return { ...one };
      });
    },
    async setVisibility(records: readonly QueueRecord[], forSeconds: number): Promise<void> {
      const ids = new Set(records.map(({ messageId }) => messageId));
      for (const one of messages) if (ids.has(one.messageId)) one.visibleAt = seconds + forSeconds;
    },
    remove(done: readonly QueueRecord[]): void {
      const ids = new Set(done.map(({ messageId }) => messageId));
      messages = messages.filter(({ messageId }) => !ids.has(messageId));
    },
    depth: () => messages.length,
  };
}

export async function sharedStages() {
  const dynamoDb = dynamoClient(inject('servers').dynamo);
  afterAll(() => dynamoDb.destroy());
  return async (options?: StageOptions): Promise<Stage> => openStage(await newTable(dynamoDb), options);
}

export type Stage = Awaited<ReturnType<typeof openStage>>;

async function openStage(table: DynamoTable, options: StageOptions = {}) {
  const store = triggerStore(table, { datastore: DATASTORE, trigger: TRIGGER });
  const queue = memoryQueue(options.visibilitySeconds ?? 1000);
  const [called, events]: [string[], ConsumeEvent[]] = [[], []];
  const hidden = new Map<string, number[]>();
  const definition = triggerNamed(TRIGGER, { maxAttempts: 3, timeoutSeconds: 5, ...options.definition });
  const watched: ConsumerQueue = {
    async setVisibility(records, seconds) {
      for (const { body } of records) hidden.set(nameOf(body), [...(hidden.get(nameOf(body)) ?? []), seconds]);
      await (options.queue?.(queue) ?? queue).setVisibility(records, seconds);
    },
  };
  const consumer = openConsumer({
    datastore: DATASTORE,
    definition,
    store: { ...store, ...options.store?.(store) },
    queue: watched,
    ...(options.atOnce !== undefined && { atOnce: options.atOnce }),
    fn(rowKey, message, schemaless, call) {
      called.push(cellOf(message));
      return options.fn?.(rowKey, message, schemaless, call);
    },
    client: triggerClients({ url: options.url ?? 'http://127.0.0.1:1', datastore: DATASTORE, attempts: 1 }),
    report: (event) => events.push(event),
    ...(options.settings && { settings: options.settings }),
  });

  const failing = async (shard: number) => (await store.shards([shard])).flatMap(({ cells }) => cells);
  const receive = (waitSeconds = 2): QueueRecord[] => queue.receive(waitSeconds);

  return {
    store,
    called,
    events,
    hidden,
    receive,
    send(...messages: readonly TriggerMessage[]): void {
      for (const message of messages) queue.send(encodeMessage(message), groupId(message.shard));
    },
    sendRetry: (message: TriggerMessage): void =>
      queue.send(encodeMessage({ ...message, replay: true }), retryGroupId(message.shard)),
    sendText: queue.send,
    /** Consumes what one receive gives, or these, and deletes what is done. Returns the cells that are not. */
    async consume(records: readonly QueueRecord[] = receive(), limits?: BatchLimits): Promise<string[]> {
      const done = new Set(await consumeBatch(consumer, records, limits));
      queue.remove([...done]);
      return records.filter((record) => !done.has(record)).map(({ body }) => nameOf(body));
    },
    show: (records: readonly QueueRecord[]) => queue.setVisibility(records, 0),
    depth: queue.depth,
    failing,
    parked: async (shard: number) => (await failing(shard)).filter(({ parked_at }) => parked_at !== undefined),
    hiddenFor: (name: string) => hidden.get(name)?.at(-1),
  };
}

export const decline = (): never => {
  throw new Error('card declined');
};
export const failOn =
  (...cells: readonly string[]) =>
  (_rowKey: string, message: TriggerMessage): void => {
    if (cells.includes(cellOf(message))) decline();
  };

export const NEVER = new Promise<never>(() => undefined);
export const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

export async function consumeAll(stage: Stage): Promise<void> {
  for (let round = 0; round < 30 && stage.depth() > 0; round += 1) {
    const records = stage.receive();
    await stage.consume(records);
    await stage.show(records);
  }
}

function nameOf(body: string): string {
  try {
    return cellOf(JSON.parse(body));
  } catch {
    return body;
  }
}

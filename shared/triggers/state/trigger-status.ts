import { randomUUID } from 'node:crypto';
import { readState, setState, updateState, type StateItem } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { statusKey, type TriggerName } from './trigger-items.ts';
import type { ResendRequest, TriggerStatus } from './trigger-store.ts';
import type { TriggerSkip, TriggerState } from '../../api/trigger-shapes.ts';

export interface ResendEnd {
  readonly id: string;
  readonly generation: number;
  readonly queueUrl: string;
  /** Messages in the last queue by now: their cells are among those that are sent again. */
  readonly dead: number;
}

/** A trigger's status. One without an item is running: it was never paused, and nothing failed. */
export function triggerStatus(table: DynamoTable, name: TriggerName) {
  type Set = Parameters<typeof setState>;
  /** Returns whether the condition held. */
  const set = async (attributes: Set[2], only?: Set[3]): Promise<boolean> =>
    (await setState(table, statusKey(name), attributes, only)) !== undefined;

  return {
    status: async (): Promise<TriggerStatus> => toStatus(await readState(table, statusKey(name))),
    /** `at`: when a rewind was requested: RFC 3339, UTC, six decimals. */
    markRewound: (at: string): Promise<boolean> => set({ rewound_at: { S: at }, skipped: undefined }),
    /** Records what the last rewind skipped, if anything. */
    async markSkipped(skipped: TriggerSkip): Promise<void> {
      if (skipped.cells > 0) await set({ skipped: { S: JSON.stringify(skipped) } });
    },
    /** Records that messages leave the queue by being consumed. */
    confirmSound: (): Promise<boolean> => set({ sound_at: now() }),
    /**
     * Records where cells are sent to; only the first call counts. `soundAt`: since when its messages are known to be
     * consumed: for a halted trigger the time of the halt.
     */
    async beginQueue(queueUrl: string, soundAt: string): Promise<void> {
      await updateState(table, {
        key: statusKey(name),
        update: 'SET #queue_url = if_not_exists(#queue_url, :url), #sound_at = if_not_exists(#sound_at, :sound)',
        values: { ':url': { S: queueUrl }, ':sound': { S: soundAt } },
      });
    },
    /**
     * Requests that all that is not known to be consumed is sent again (`resendUnconsumed`). Does nothing while one is
     * requested, unless to another queue, or if the queue was found sound since the status was seen.
     */
    async wantResend({ why, seen, queueUrl }: ResendRequest): Promise<void> {
      const asked = { resend_id: { S: randomUUID() }, resend_why: { S: why }, resend_asked_at: now() };
      const desired = { ...asked, resend_done_at: undefined };
      if (queueUrl !== undefined) await set({ ...desired, resend_queue: { S: queueUrl } });
      else {
        const condition = `attribute_not_exists(#resend_id) AND ${unchanged('sound_at', seen.sound_at)}`;
        await set(desired, { condition, values: seenValue(seen.sound_at) });
      }
    },
    /** Ends a resend, unless another one was requested since. */
    async endResend({ id, generation, queueUrl, dead }: ResendEnd): Promise<void> {
      const ended = {
        least_generation: { N: String(generation) },
        queue_url: { S: queueUrl },
        dead_seen: { N: String(dead) },
        sound_at: now(),
        resend_done_at: now(),
        resend_id: undefined,
        resend_queue: undefined,
      };
      await set(ended, { condition: '#resend_id = :id', values: { ':id': { S: id } } });
    },
    /** Records the messages in the last queue that were handled; there may be fewer than before. */
    writeDeadSeen: (dead: number): Promise<boolean> => set({ dead_seen: { N: String(dead) } }),
    /** Sets the state. Halting again keeps the reason if none is given, and always `since`. */
    async writeState(state: TriggerState, reason?: string): Promise<void> {
      const values = { state: { S: state }, ...(reason !== undefined && { reason: { S: reason } }) };
      const isHalted = { condition: 'attribute_exists(#state) AND #state <> :running', values: RUNNING };
      if (state !== 'running' && (await set(values, isHalted))) return;
      await set({ ...values, changed_at: now(), ...(state === 'running' && { reason: undefined }) });
    },
    /**
     * Stops a running trigger, unless its state was set since it was seen: resuming knows of more than the old count.
     */
    async stopRunning(seen: TriggerStatus, reason: string): Promise<void> {
      const isRunning = '(attribute_not_exists(#state) OR #state = :running)';
      await set(
        { state: { S: 'stopped' }, changed_at: now(), reason: { S: reason } },
        {
          condition: `${isRunning} AND ${unchanged('changed_at', seen.changed_at)}`,
          values: { ...RUNNING, ...seenValue(seen.changed_at) },
        },
      );
    },
  };
}

const RUNNING: StateItem = { ':running': { S: 'running' } };

export function toStatus(item: StateItem = {}): TriggerStatus {
  const text = (key: string): string | undefined => item[key]?.S;
  const count = (key: string): number | undefined => (item[key]?.N === undefined ? undefined : Number(item[key].N));
  const [skipped, why, asked] = ['skipped', 'resend_why', 'resend_asked_at'].map(text);
  return {
    state: (text('state') ?? 'running') as TriggerState,
    reason: text('reason'),
    changed_at: text('changed_at'),
    troubled_blocks: (item['troubled_blocks']?.NS ?? []).map(Number),
    rewound_at: text('rewound_at'),
    skipped: skipped === undefined ? undefined : (JSON.parse(skipped) as TriggerSkip),
    queue_url: text('queue_url'),
    sound_at: text('sound_at'),
    dead_seen: count('dead_seen'),
    least_generation: count('least_generation'),
    resend:
      why === undefined || asked === undefined
        ? undefined
        : {
            why,
            asked_at: asked,
            id: text('resend_id'),
            queue_url: text('resend_queue'),
            done_at: text('resend_done_at'),
          },
  };
}

function unchanged(key: string, seen: string | undefined): string {
  return seen === undefined ? `attribute_not_exists(#${key})` : `#${key} = :seen`;
}

function seenValue(seen: string | undefined): StateItem {
  return seen === undefined ? {} : { ':seen': { S: seen } };
}

function now(): { readonly S: string } {
  return { S: new Date().toISOString() };
}

import type { FollowEvent } from '../../follow/follower.ts';
import { known } from '../../known.ts';
import { ofFirst, repeat } from '../../repeat.ts';
import type { DeployedTrigger } from '../../topology/topology.ts';
import type { TriggerStore } from '../state/dynamo-trigger-store.ts';
import type { SendingQueues } from '../state/queues.ts';
import type { StoreContext } from '../../access/context.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import type { WorkersOptions } from '../../follow/workers.ts';
import type { Pauses } from '../../follow/pace.ts';

export interface TailWork {
  readonly datastore: string;
  readonly deployed: DeployedTrigger;
  readonly queues: SendingQueues;
  readonly store: TriggerStore;
  readonly settings: TailSettings;
  readonly report: (happening: TailHappening) => void;
}

/** Polls something until the signal, and reports the first of consecutive failures. */
export function poll(
  { report }: Pick<TailWork, 'report'>,
  { what, everyMs, poll }: { readonly what: string; readonly everyMs: number; readonly poll: () => Promise<void> },
  signal: AbortSignal,
): Promise<void> {
  return repeat({ turn: poll, everyMs, failed: ofFirst((error) => report({ kind: 'failed', what, error })) }, signal);
}

/** Returns a poll that joins the one under way, never fails, and reports the first of consecutive failures. */
export function sharedPoll(
  { report }: Pick<TailWork, 'report'>,
  what: string,
  poll: () => Promise<void>,
): () => Promise<void> {
  return known(poll, { failed: (error) => report({ kind: 'failed', what, error }) }).poll;
}

/** An event for a metric or a log line. Never holds a cell's body. */
export type TailEvent = { readonly datastore: string; readonly trigger: string } & TailHappening;

export type TailHappening =
  | { readonly kind: 'followed'; readonly event: FollowEvent }
  /** Cells that the queue took; some may be replays after a rewind. */
  | { readonly kind: 'sent'; readonly cells: number; readonly replays: number }
  /** Parked cells that were sent again. */
  | { readonly kind: 'retried'; readonly cells: number }
  /** SQS did not take messages: they are sent again. Reported at the first of consecutive failures. */
  | { readonly kind: 'send_failed'; readonly error: unknown }
  /** How far consuming and sending are behind the logs that can be read: the cells, and the age of the oldest. */
  | {
      readonly kind: 'lag';
      readonly cells: number;
      readonly seconds: number;
      readonly unsentCells: number;
      readonly unsentSeconds: number;
    }
  /** Problems that wait for an operator. */
  | {
      readonly kind: 'troubles';
      readonly isStopped: boolean;
      readonly parked: number;
      readonly malformed: number;
    }
  /** All cells not known to be consumed are sent again from now on. */
  | { readonly kind: 'resent' }
  /** Nothing is sent for now. */
  | { readonly kind: 'held_back'; readonly why: string }
  | { readonly kind: 'continues' }
  | { readonly kind: 'failed'; readonly what: string; readonly error: unknown };

export interface TailRun {
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly stateTable: DynamoTable;
  readonly queues: SendingQueues;
  readonly owner: string;
  /** From 0: the next run of the same slot takes over from this one. */
  readonly slot: number;
  /** The number of workers unless the state table has one. @default all that are started */
  readonly tailers?: number;
  /** When to end, by `Date.now()`: before the function's own time limit. */
  readonly deadline: number;
  readonly signal?: AbortSignal;
  /** Of new triggers; later runs keep to it. @default by `defaultPartitions` */
  readonly partitions?: number;
  readonly settings?: Partial<TailSettings>;
  readonly heartbeat?: Pick<WorkersOptions, 'heartbeatMs' | 'silenceMs'>;
  readonly report?: (event: TailEvent) => void;
}

const MINUTE = 60_000;

export const TAIL_SETTINGS = {
  /** Between polls of a trigger's state, and of its shards that are not in order: a pause holds within 2 s. */
  pollMs: 1500,
  /** Between reads of the list of triggers. */
  listMs: 5000,
  /** Between polls of a queue's depth. */
  depthEveryMs: 5000,
  /** A queue with so many messages gets no more: SQS finds free groups among the first 120,000 only. */
  depthLimit: 100_000,
  /** Between reports of the lag. */
  lagEveryMs: 30_000,
  /** A queue empty for so long has had all consumed: SQS may count a minute late, and clocks differ. */
  emptyMs: 130_000,
  /** How far past its consumer's mark a troubled shard is sent, in added ids. */
  pastMark: 1000,
  /** An older mark may be of a consumer that died: a few more cells let the next one correct it. */
  oldMarkMs: 15 * MINUTE,
  pastOldMark: 10,
  /** A retry without a result counts as lost after this time. */
  lostRetryMs: 15 * MINUTE,
  /** Parallel requests to SQS for the shards of one group. */
  sendsSideBySide: 8,
  /** How long sending may delay the next page of its group; the rest is read again. */
  sendForMs: 200,
  /** For each shard. */
  pageCells: 50,
  /** How long offsets may stay unwritten: a crash repeats that much, and the lag shown is so old. */
  commitEveryMs: 3000,
  pauses: { leastMs: 80, mostMs: 640 } as Pauses,
};

/** The settings that operators and tests may change. */
export type TailSettings = Readonly<typeof TAIL_SETTINGS>;

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
  { what, everyMs, look }: { readonly what: string; readonly everyMs: number; readonly look: () => Promise<void> },
  signal: AbortSignal,
): Promise<void> {
  return repeat({ turn: look, everyMs, failed: ofFirst((error) => report({ kind: 'failed', what, error })) }, signal);
}

/** Returns a look that joins the one under way, never fails, and reports the first of consecutive failures. */
export function joinedLook(
  { report }: Pick<TailWork, 'report'>,
  what: string,
  look: () => Promise<void>,
): () => Promise<void> {
  return known(look, { failed: (error) => report({ kind: 'failed', what, error }) }).look;
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
  /** What waits for an operator. */
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
  | { readonly kind: 'goes_on' }
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

/** What operators, and tests, may change. */
export interface TailSettings {
  /** Between polls of a trigger's state, and of its shards that are not in order. @default 1000 */
  readonly lookMs: number;
  /** Between reads of the list of triggers. @default 5000 */
  readonly listMs: number;
  /** Between polls of a queue's depth. @default 5000 */
  readonly depthEveryMs: number;
  /** A queue with so many messages gets no more: SQS finds free groups among the first 120,000 only. @default 100,000 */
  readonly depthLimit: number;
  /** Between reports of the lag. @default 30,000 */
  readonly lagEveryMs: number;
  /** A queue empty for so long has had all consumed: SQS may count a minute late, and clocks differ. @default 130,000 */
  readonly emptyMs: number;
  /** How far past its consumer's mark a troubled shard is sent, in added ids. @default 1000 */
  readonly pastMark: number;
  /** An older mark may be of a consumer that died: a few more cells let the next one correct it. @default 15 minutes */
  readonly oldMarkMs: number;
  /** @default 10 */
  readonly pastOldMark: number;
  /** A retry without a result counts as lost after this time. @default 15 minutes */
  readonly lostRetryMs: number;
  /** Parallel requests to SQS for the shards of one group. @default 8 */
  readonly sendsSideBySide: number;
  /** How long sending may delay the next page of its group; the rest is read again. @default 200 */
  readonly sendForMs: number;
  /** For each shard. @default 50 */
  readonly pageCells: number;
  /** How long offsets may stay unwritten: a crash repeats that much, and the lag shown is so old. @default 3000 */
  readonly commitEveryMs: number;
  /** @default 80 to 640 ms */
  readonly pauses: Pauses;
}

const MINUTE = 60_000;

export const TAIL_SETTINGS: TailSettings = {
  lookMs: 1000,
  listMs: 5000,
  depthEveryMs: 5000,
  depthLimit: 100_000,
  lagEveryMs: 30_000,
  emptyMs: 130_000,
  pastMark: 1000,
  oldMarkMs: 15 * MINUTE,
  pastOldMark: 10,
  lostRetryMs: 15 * MINUTE,
  sendsSideBySide: 8,
  sendForMs: 200,
  pageCells: 50,
  commitEveryMs: 3000,
  pauses: { leastMs: 80, mostMs: 640 },
};

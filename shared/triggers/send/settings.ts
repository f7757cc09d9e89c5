import type { Pauses } from '../../follow/pace.ts';

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

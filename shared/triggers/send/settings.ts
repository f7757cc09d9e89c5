import type { Pauses } from '../../follow/pace.ts';

/** What operators, and tests, may want otherwise. */
export interface TailSettings {
  /** Between looks at a trigger's state, and at its shards that are not in order. @default 1000 */
  readonly lookMs: number;
  /** Between looks at which triggers there are. @default 5000 */
  readonly listMs: number;
  /** Between looks at how much a queue holds. @default 5000 */
  readonly depthEveryMs: number;
  /**
   * A queue that holds so many messages gets no more: SQS looks for messages of free groups among the first 120,000
   * only. @default 100,000
   */
  readonly depthLimit: number;
  /** Between looks at how far sending is behind the logs. @default 30,000 */
  readonly lagEveryMs: number;
  /**
   * A queue that is found empty again after so long has had all consumed that was sent before: SQS may count what it
   * holds a minute late. @default 70,000
   */
  readonly emptyMs: number;
  /** How far past its consumer's mark a troubled shard is sent, in added ids. @default 1000 */
  readonly pastMark: number;
  /**
   * After this time a mark may be one of a consumer that died: a few cells more make the next one set it right.
   * @default 15 minutes
   */
  readonly oldMarkMs: number;
  /** @default 10 */
  readonly pastOldMark: number;
  /** After this time a retry of a parked cell of which nothing came counts as lost. @default 15 minutes */
  readonly lostRetryMs: number;
  /** How many requests to SQS are under way at once for the shards of one group. @default 8 */
  readonly sendsSideBySide: number;
  /** How long sending may hold up the next page of its group; what is left is read again. @default 200 */
  readonly sendForMs: number;
  /** Of each shard at a time: what is left over when `sendForMs` is up is read again. @default 50 */
  readonly pageCells: number;
  /**
   * How long offsets may stay unwritten: what a crash sends again, and how far behind the lag that is shown may be.
   * Each write is an item of one partition. @default 3000
   */
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
  emptyMs: 70_000,
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

import { RETIRED_FOR_MS } from '../index-table.ts';

const MINUTE = 60_000;

/** What operators, and tests, may want otherwise. */
export interface RepairSettings {
  /** How far behind the logs it follows: the writes themselves get this time to keep their entries. @default 3000 */
  readonly behindMs: number;
  /**
   * How long the repair's offsets may stay unwritten: what a run that dies leaves to be compared again. Each write is
   * an item of one partition. @default 5000
   */
  readonly commitEveryMs: number;
  /** Cells a second that the builds of a datastore look at together. @default 5000 */
  readonly buildCellsPerSecond: number;
  /** Between looks: at the topology, at pending groups, at builds under way. @default 2000 */
  readonly lookMs: number;
  /** Versions of indexes that are kept are known to be those of so long ago at most. @default 1500 */
  readonly versionsAgeMs: number;
  /**
   * How long after a log was cut its rows are verified: writes under way at the cut have ended by then. @default 5000
   */
  readonly afterCutMs: number;
  /**
   * Age at which a tombstone is purged: nobody who computed an entry before it is still about to write it. @default a
   * day
   */
  readonly tombstoneAgeMs: number;
  /** Between purges. @default an hour */
  readonly purgeEveryMs: number;
  /** How long a retired version's tables stay. @default 2 minutes, see `RETIRED_FOR_MS` */
  readonly retiredForMs: number;
  /** Between counts of all entries for the largest shard's share; longer where counting takes long. @default 60,000 */
  readonly countEveryMs: number;
  /**
   * How long a shard is left out whose rows could not be read in time: as long as a statement that changes a table may
   * well go on. @default 30,000
   */
  readonly slowShardRestMs: number;
}

export const REPAIR_SETTINGS: RepairSettings = {
  behindMs: 3000,
  commitEveryMs: 5000,
  buildCellsPerSecond: 5000,
  lookMs: 2000,
  versionsAgeMs: 1500,
  afterCutMs: 5000,
  tombstoneAgeMs: 24 * 60 * MINUTE,
  purgeEveryMs: 60 * MINUTE,
  retiredForMs: RETIRED_FOR_MS,
  countEveryMs: MINUTE,
  slowShardRestMs: 30_000,
};

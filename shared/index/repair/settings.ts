import { RETIRED_FOR_MS } from '../index-table.ts';

const MINUTE = 60_000;

export interface RepairSettings {
  /** Delay behind the logs, in which writes maintain their entries themselves. @default 3000 */
  readonly behindMs: number;
  /** Interval of the repair's offset commits: a killed run's successor compares so much again. @default 5000 */
  readonly commitEveryMs: number;
  /** Cells a second of all builds of a datastore. @default 5000 */
  readonly buildCellsPerSecond: number;
  /** Interval of looks at topology, pending groups and builds. @default 2000 */
  readonly lookMs: number;
  /** Greatest age of the known index versions. @default 1500 */
  readonly versionsAgeMs: number;
  /** Delay from a cut log to its verification: writes under way have ended by then. @default 5000 */
  readonly afterCutMs: number;
  /** Age of purged tombstones: no older entry is still being written. @default a day */
  readonly tombstoneAgeMs: number;
  readonly purgeEveryMs: number;
  /** How long a retired version's tables stay. @default `RETIRED_FOR_MS` */
  readonly retiredForMs: number;
  /** Interval of counts for the largest shard's share; longer if they take long. @default 60,000 */
  readonly countEveryMs: number;
  /** How long a shard whose rows timed out is left out: about as long as an ALTER. @default 30,000 */
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

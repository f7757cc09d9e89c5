import { RETIRED_FOR_MS } from '../index-table.ts';

const MINUTE = 60_000;

export const REPAIR_SETTINGS = {
  /** Delay behind the logs, in which writes maintain their entries themselves. */
  behindMs: 3000,
  /** Interval of the repair's offset commits: a killed run's successor compares so much again. */
  commitEveryMs: 5000,
  /** For all builds of a datastore together. */
  buildCellsPerSecond: 5000,
  /** Interval of looks at topology, pending groups and builds. */
  lookMs: 2000,
  /** Greatest age of the known index versions. */
  versionsAgeMs: 1500,
  /** Delay from a cut log to its verification: writes under way have ended by then. */
  afterCutMs: 5000,
  /** Age of purged tombstones: no older entry is still being written. */
  tombstoneAgeMs: 24 * 60 * MINUTE,
  /** How long a retired version's tables stay. */
  retiredForMs: RETIRED_FOR_MS,
  /** Interval of counts for the largest shard's share; longer if they take long. */
  countEveryMs: MINUTE,
  /** How long a shard whose rows timed out is left out: about as long as an ALTER. */
  slowShardRestMs: 30_000,
};

export type RepairSettings = Readonly<typeof REPAIR_SETTINGS>;

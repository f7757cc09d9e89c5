import { RENEW_MS } from '../../shared/drain/run-drain.ts';
import { FINGERPRINT_BYTES } from '../../shared/follow/fingerprint.ts';
import { defaultPartitions } from '../../shared/follow/follower-item.ts';
import { REPAIR_SETTINGS } from '../../shared/index/repair/settings.ts';
import { TAIL_SETTINGS } from '../../shared/triggers/send/settings.ts';
import { SHARDS_AN_ITEM } from '../../shared/triggers/state/consumed-marks.ts';
import type { Assumptions } from './assumptions.ts';
import type { Load } from './load.ts';
import type { Traffic } from './traffic.ts';

/** Request units of DynamoDB by the second: a write unit is 1 KB, a read unit 4 KB. */
export interface StateTraffic {
  readonly writes: number;
  readonly reads: number;
  /** Reads of the item that is read most: a trigger's status, or a datastore's topology. */
  readonly readsOfOneItem: number;
}

/** How often the code reads and writes, where it does not export it: seconds. */
const EVERY = {
  /** `CHECKPOINTS_EVERY_MS` of `shared/follow/run-follower.ts`. */
  checkpoints: 30,
  /** `CHANGES_EVERY_MS` of the same. */
  changes: 2,
  /** `heartbeatMs` of `shared/follow/workers.ts`, and of the repair. */
  heartbeat: 1,
  repairHeartbeat: 2,
  /** Schedules start a successor, and each partition is released and taken. */
  handOver: 60,
  /** `watchCount` of `shared/triggers/send/run-tailers.ts`. */
  tailerCount: 1,
  /** `SHORT_MS` of `shared/index/repair/run-repair.ts`: the topology is read anew after each. */
  repairLook: 0.5,
  /** `IDLE_LOOKS` of `shared/index/repair/complete-builds.ts`, times `lookMs`: the offsets of the repair. */
  repairLag: 10,
  /** `lookMs` of the repair's chores: a mark of each group, and the datastore's topology. */
  chores: REPAIR_SETTINGS.lookMs / 1000,
  /** `MAX_AGE_MS` of `shared/topology/dynamo-topology.ts`. */
  topology: 60,
  /** `LOOK_EVERY_MS` of `shared/access/open-circuits.ts`, eventually consistent. */
  openCircuits: 2,
  /** `statusMs` of `shared/triggers/consume/consumer.ts`. */
  triggerStatus: 1,
  /** `consumedEveryMs` of the same. */
  marks: 30,
} as const;

const READ_UNIT = 4096;
const WRITE_UNIT = 1024;
/** Bytes of an item beside what it holds: key, owner, token, generation and their names. */
const ITEM_BYTES = 150;
/** A partition's offsets, by the shard: a fingerprint, an added id below 2^28, an epoch. */
export const OFFSETS_ITEM = { ofAShard: FINGERPRINT_BYTES + 4 + 1 };
/** Which cells a trigger of some columns was given last, by the shard: how far before the offset; and a checksum. */
export const GIVEN_ITEM = { ofAShard: 1, bytes: 6 };
/** Its checkpoints: so many by the shard, each a fingerprint and the distance from the one before. */
export const CHECKPOINTS_ITEM = { ofAShard: 16, bytes: FINGERPRINT_BYTES + 3 };
/** What is consumed of the shards of a page, by the shard: numbers, a fingerprint in hexadecimal, packed. */
export const MARKS_ITEM = { ofAShard: 20 };
/** Of a shard in the topology: its group and its epoch in two lists; of a group: its addresses. */
const TOPOLOGY_SHARD_BYTES = 6;
const TOPOLOGY_GROUP_BYTES = 700;

/** What leases, offsets and the topology ask of DynamoDB. */
export function stateTrafficOf(
  { environment, shards, writesPerSecond }: Load,
  traffic: Traffic,
  groups: number,
  { triggers, triggersPerWrite }: Assumptions,
): StateTraffic {
  const { loops, writeCells, readCells, triggerFunctions, batches } = traffic;
  const topologyUnits = Math.ceil((shards * TOPOLOGY_SHARD_BYTES + groups * TOPOLOGY_GROUP_BYTES) / READ_UNIT);
  const answering = Math.ceil(writeCells.concurrency) + Math.ceil(readCells.concurrency);
  const instances = answering + Math.ceil(triggerFunctions.concurrency);
  const scans = (instances / EVERY.topology) * topologyUnits;
  const statuses = Math.min(Math.ceil(triggerFunctions.concurrency) / EVERY.triggerStatus, batches) * triggersPerWrite;
  const marks =
    triggersPerWrite === 0
      ? 0
      : triggersPerWrite *
        marksWritten(shards, traffic.triggerCells / triggersPerWrite, triggerFunctions.concurrency / triggersPerWrite);
  const marksUnits = Math.ceil((Math.min(SHARDS_AN_ITEM, shards) * MARKS_ITEM.ofAShard + ITEM_BYTES) / WRITE_UNIT);
  // Each is read before it is written.
  const asked = {
    writes: marks * marksUnits,
    reads: scans + statuses + answering / EVERY.openCircuits / 2 + marks,
    readsOfOneItem: Math.max(scans, statuses),
  };
  if (!environment.schedules) return asked;

  const followers = [
    ...Array.from({ length: triggers }, (_, trigger) =>
      followerOf(
        { shards, ofAShard: OFFSETS_ITEM.ofAShard + GIVEN_ITEM.ofAShard },
        trigger < triggersPerWrite ? writesPerSecond : 0,
        TAIL_SETTINGS.commitEveryMs,
        TAIL_SETTINGS.lagEveryMs,
      ),
    ),
    followerOf(
      { shards, ofAShard: OFFSETS_ITEM.ofAShard },
      writesPerSecond,
      REPAIR_SETTINGS.commitEveryMs,
      EVERY.repairLag * 1000,
    ),
  ];
  const { tailers } = loops;
  const sum = (of: (follower: { readonly writes: number; readonly reads: number }) => number): number =>
    followers.reduce((total, follower) => total + of(follower), 0);
  // The repair has one lease, the drain one for each group where there are several.
  const renewals = ((groups > 1 ? groups : 0) + 1) * (1000 / RENEW_MS);
  const scansOfLoops =
    1 / EVERY.repairLook +
    1000 / REPAIR_SETTINGS.versionsAgeMs +
    (tailers * 1000) / TAIL_SETTINGS.listMs +
    1 / EVERY.chores;
  const looks =
    (tailers * triggers * 1000) / TAIL_SETTINGS.lookMs +
    tailers / EVERY.tailerCount +
    (tailers * triggers + 1) / EVERY.changes +
    groups / EVERY.chores;
  return {
    writes:
      asked.writes + sum(({ writes }) => writes) + renewals + tailers / EVERY.heartbeat + 1 / EVERY.repairHeartbeat,
    reads: asked.reads + sum(({ reads }) => reads) + renewals + looks + scansOfLoops * topologyUnits,
    readsOfOneItem: Math.max(scans + scansOfLoops * topologyUnits, statuses + (tailers * 1000) / TAIL_SETTINGS.lookMs),
  };
}

/**
 * Marks of what a trigger's consumers have done, by the second: each instance writes, now and then, one item for each
 * page of shards of which it had a cell since.
 */
function marksWritten(shards: number, cellsPerSecond: number, concurrency: number): number {
  const pages = Math.ceil(shards / SHARDS_AN_ITEM);
  const instances = Math.max(1, Math.ceil(concurrency));
  return (instances * pages * (1 - Math.exp((-cellsPerSecond * EVERY.marks) / (instances * pages)))) / EVERY.marks;
}

/**
 * The partitions of one follower: committed a while after they moved, checkpoints now and then, handed over each
 * minute, read for its lag.
 */
function followerOf(
  { shards, ofAShard }: { readonly shards: number; readonly ofAShard: number },
  cellsPerSecond: number,
  commitEveryMs: number,
  lagEveryMs: number,
): { readonly writes: number; readonly reads: number } {
  const partitions = defaultPartitions(shards);
  const shardsOfOne = Math.ceil(shards / partitions);
  const offsetUnits = Math.ceil((shardsOfOne * ofAShard + ITEM_BYTES) / WRITE_UNIT);
  const checkpointBytes = shardsOfOne * CHECKPOINTS_ITEM.ofAShard * CHECKPOINTS_ITEM.bytes + ITEM_BYTES;
  // From a write on, a partition waits; it is written; the next write begins the next wait.
  const untilCell = cellsPerSecond === 0 ? Infinity : partitions / cellsPerSecond;
  const commits = (partitions * offsetUnits) / (commitEveryMs / 1000 + untilCell);
  const checkpoints = (partitions * Math.ceil(checkpointBytes / WRITE_UNIT)) / (EVERY.checkpoints + untilCell);
  return {
    writes: commits + checkpoints + (2 * partitions * offsetUnits) / EVERY.handOver,
    reads: (partitions * Math.ceil(checkpointBytes / READ_UNIT)) / EVERY.handOver + (partitions * 1000) / lagEveryMs,
  };
}

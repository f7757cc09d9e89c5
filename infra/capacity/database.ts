import { TAIL_SETTINGS } from '../../shared/triggers/send/settings.ts';
import { SHARDS_A_PAGE } from '../../shared/follow/log-pages.ts';
import { connectionsOf } from '../constructs/max-connections.ts';
import type { Assumptions, Sent } from './assumptions.ts';
import type { Load } from './load.ts';
import { SECONDS_A_MONTH } from './prices.ts';
import type { Traffic } from './traffic.ts';

/** The shard groups. */
export interface Database {
  readonly groups: number;
  readonly nodes: number;
  readonly writesPerGroup: number;
  /** ACUs on average: of a writer, of all nodes of a group. The first reader is as large as the writer. */
  readonly writerAcu: number;
  readonly groupAcu: number;
  /** The most that `capacity` has to allow: the environment's, or the next size above. */
  readonly maxAcu: number;
  /** Connections that a node may be asked for at once, and what it takes with `maxAcu`. */
  readonly connections: number;
  readonly maxConnections: number;
  /** Bytes of all groups, once the months kept have passed. */
  readonly storedBytes: number;
  /** I/O of the storage by the second. */
  readonly io: number;
  /** Calls of the RDS Data API by the second, where the environment uses it. */
  readonly dataApiCalls: number;
}

const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 192, 256] as const;
export const LARGEST_ACU = 256;
/** What a node that may pause has while it is awake. */
const LEAST_ACU = 0.5;

/** The most of what the environment has, its shards ask for, and its writes ask for. */
export function groupsOf(
  { environment, shards, writesPerSecond }: Load,
  { shardsPerGroup, writesPerGroup }: Assumptions,
): number {
  return Math.max(environment.groups, Math.ceil(shards / shardsPerGroup), Math.ceil(writesPerSecond / writesPerGroup));
}

export function databaseOf(load: Load, traffic: Traffic, groups: number, assumptions: Assumptions): Database {
  const { environment, writesPerSecond } = load;
  const { readersPerGroup, capacity, bufferCopies } = environment;
  const { entriesPerWrite, storedCellBytes, storedEntryBytes, monthsKept, io } = assumptions;
  const { writer, reader } = acusOf(load, traffic, groups, assumptions);
  const maxAcu = Math.max(capacity.max, SIZES.find((size) => size >= writer) ?? LARGEST_ACU);
  return {
    groups,
    nodes: groups * (1 + readersPerGroup),
    writesPerGroup: writesPerSecond / groups,
    writerAcu: writer,
    groupAcu: writer + (readersPerGroup > 0 ? Math.max(writer, reader) : 0) + Math.max(0, readersPerGroup - 1) * reader,
    maxAcu,
    connections: environment.access === 'mysql' ? connectionsAsked(load, traffic, groups, assumptions) : 0,
    maxConnections: connectionsOf(maxAcu),
    storedBytes:
      writesPerSecond * SECONDS_A_MONTH * monthsKept * (storedCellBytes + entriesPerWrite * storedEntryBytes),
    io:
      writesPerSecond *
      ((putOf(environment, assumptions).commits + bufferCopies) * io.commit + (1 + entriesPerWrite) * io.page),
    dataApiCalls: environment.access === 'data-api' ? dataApiCallsOf(load, traffic, assumptions) : 0,
  };
}

/** What a put sends with its copies and entries. */
export function putOf(
  { bufferCopies }: Pick<Load['environment'], 'bufferCopies'>,
  { put: { cell, copy, entry }, entriesPerWrite }: Pick<Assumptions, 'put' | 'entriesPerWrite'>,
): Sent {
  const sum = (of: (part: Sent) => number): number => of(cell) + bufferCopies * of(copy) + entriesPerWrite * of(entry);
  return { statements: sum(({ statements }) => statements), commits: sum(({ commits }) => commits) };
}

/** A writer's and a further reader's ACUs, on average. */
function acusOf(
  { environment, writesPerSecond }: Load,
  { reads }: Traffic,
  groups: number,
  { work, entriesPerWrite, appendsPerAcu, usedShare }: Assumptions,
): { readonly writer: number; readonly reader: number } {
  const { capacity, bufferCopies, readersPerGroup, schedules } = environment;
  // Tailing keeps a node awake that could pause, and so does whoever writes.
  const least = schedules || writesPerSecond > 0 ? Math.max(capacity.min, LEAST_ACU) : capacity.min;
  const acus = (appends: number): number => appends / groups / (appendsPerAcu * usedShare);
  const tailed = writesPerSecond * work.tail;
  const written = writesPerSecond * (1 + bufferCopies * work.copy + entriesPerWrite * work.entry) + reads * work.read;
  return {
    writer: Math.max(least, acus(written + (readersPerGroup === 0 ? tailed : 0))),
    reader: readersPerGroup === 0 ? 0 : Math.max(least, acus(tailed / readersPerGroup)),
  };
}

/** A proxy lends a connection for a statement; without one each instance may hold its whole pool to each node. */
function connectionsAsked(
  { environment: { proxy, connections } }: Load,
  { writeCells, readCells, loops }: Traffic,
  groups: number,
  { unevenness }: Assumptions,
): number {
  const answering = Math.ceil(writeCells.concurrency) + Math.ceil(readCells.concurrency);
  const looping = Math.ceil(loops.concurrency) * connections.loop;
  return looping + (proxy ? Math.ceil((answering * unevenness) / groups) : answering * connections.request);
}

/**
 * Each statement is a call. At rest it is the tailers and the repair that ask: each page of shards after the longest
 * pause, and once a second.
 */
function dataApiCallsOf(
  { environment, shards, writesPerSecond }: Load,
  { reads }: Traffic,
  assumptions: Assumptions,
): number {
  const pages = Math.ceil(shards / SHARDS_A_PAGE);
  const looks = environment.schedules ? (pages * 1000) / (TAIL_SETTINGS.pauses.mostMs ?? 500) + pages : 0;
  return looks + reads + writesPerSecond * putOf(environment, assumptions).statements;
}

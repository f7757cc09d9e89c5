import { LIMITS, type Role, type Cell, type Location } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { byItem, type ItemRows, type StoredCell } from '../sql/cell-rows.ts';
import { findLocations, toAfterIds } from '../sql/statements/find-locations.ts';
import { selectHeads, toHeads } from '../sql/statements/select-heads.ts';
import { selectLog } from '../sql/statements/select-log.ts';
import { requireDatastore, byGroup, homeOf } from '../access/groups.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import { askParts, partsOf, pageBytes } from '../access/ask-parts.ts';
import { answerRoom, decodeOrMark } from '../access/decode.ts';
import type { StoreContext } from '../access/context.ts';
import type { Datastore, ShardHead, ShardLog } from '../contract/datastore.ts';
import { parseBatch, parseLimit, parseLocation, parseRead } from '../address.ts';
import type { AnswerRoom } from '../contract/answer-room.ts';

/** Some 64 branches take about 1 ms; beyond, parsing grows. */
const SHARDS_A_STATEMENT = 64;
const HEADS_A_STATEMENT = 256;
/** With less room left an answer is full: filling it would take statements for a few cells each. */
const FULL_BYTES = LIMITS.answerBytes / 4;
/** Halving a thousand shards this often leaves one. */
const MOST_ROUNDS = 16;

export function logReads(context: StoreContext, name: string, shards: number): Pick<Datastore, 'log' | 'heads'> {
  return {
    async log(locations, options: Parameters<Datastore['log']>[1] = {}): Promise<readonly ShardLog[]> {
      const limit = parseLimit(options.limit);
      const read = parseRead(options.read);
      const wanted = parseBatch(
        locations,
        'locations',
        (location, prefix) => parseLocation(location, shards, prefix),
        LIMITS.logCells,
      );
      const topology = await requireDatastore(context.topology, name);
      const logs = wanted.map(openLog);
      const reading: Reading = { context, topology, limit, read, packed: options.packed };
      const byTime = logs.filter(({ since }) => since !== undefined);
      await locate(reading, byTime);
      await readInTurn(reading, logs);
      return logs.map(toShardLog);
    },

    async heads(options = {}): Promise<readonly ShardHead[]> {
      const read = parseRead(options.read);
      const topology = await requireDatastore(context.topology, name);
      const answers: ShardHead[] = topology.homes.map(({ group }, shard) => ({ shard, group, head: 0 }));
      await eachPage(
        topology,
        HEADS_A_STATEMENT,
        answers,
        async (page, group) => {
          const client = await context.groups.client(group);
          const asked = page.map(({ shard }) => shard);
          const statement = selectHeads(name, asked);
          const { rows, errorOf } = await context.admit(group, () => askParts(client, group, read, partsOf(statement)));
          const heads = toHeads(rows);
          for (const [position, { shard }] of page.entries()) {
            const error = errorOf(position);
            answers[shard] = error ? { shard, group, error } : { shard, group, head: heads.get(shard) ?? 0 };
          }
        },
        ({ shard }, error) => void (answers[shard] = { shard, group: homeOf(topology, shard).group, error }),
      );
      return answers;
    },
  };
}

interface Reading {
  readonly context: StoreContext;
  readonly topology: DatastoreTopology;
  readonly limit: number;
  readonly read: Role;
  readonly packed: boolean | undefined;
}

async function locate({ context, topology, read }: Reading, logs: readonly OpenLog[]): Promise<void> {
  await eachPage(
    topology,
    SHARDS_A_STATEMENT,
    logs,
    async (page, group) => {
      const client = await context.groups.client(group);
      const times = page.map(({ shard, since = '' }) => ({ shard, since }));
      const statement = findLocations(topology.datastore, times);
      const { rows, errorOf } = await context.admit(group, () => askParts(client, group, read, partsOf(statement)));
      const found = toAfterIds(rows);
      for (const [position, log] of page.entries()) {
        log.next = found[position] ?? 0;
        log.error = errorOf(position);
      }
    },
    (log, error) => void (log.error = error),
  );
}

/**
 * Reads logs into one answer: a cell of each shard, then the next of each. Each shard's share is bounded by stored
 * bytes. Unused shares go to others in further rounds, to half as many shards at a time if most next cells exceed their
 * shares. The first shard's first cell comes at any size. A random shard is first: no shard waits for ever.
 */
async function readInTurn(reading: Reading, logs: readonly OpenLog[]): Promise<void> {
  const room = answerRoom();
  const start = Math.floor(Math.random() * logs.length);
  const queue = [...logs.slice(start), ...logs.slice(0, start)].filter(({ error }) => !error);
  let size = queue.length;
  let isEmpty = true;
  for (let round = 0; round < MOST_ROUNDS && queue.length > 0 && (isEmpty || room.left() > FULL_BYTES); round += 1) {
    const asked = queue.splice(0, size);
    await fetchNext(reading, asked, Math.max(0, room.left()));
    const { cells, isFull } = takeInTurn(asked, room, reading.packed, isEmpty);
    if (isFull) break;
    isEmpty &&= cells === 0;
    queue.push(...asked.filter((log) => log.isCut && log.cells.length < reading.limit));
    if (cells < asked.length / 2) size = Math.ceil(asked.length / 2);
  }
}

/** Fetches the next cells of logs, `room` bytes at most. */
async function fetchNext(
  { context, topology, limit, read }: Reading,
  logs: readonly OpenLog[],
  room: number,
): Promise<void> {
  const [first] = logs;
  const bytesEach = Math.floor(room / logs.length);
  await eachPage(
    topology,
    SHARDS_A_STATEMENT,
    logs,
    async (page, group) => {
      const client = await context.groups.client(group);
      const bytes = Math.min(bytesEach, Math.floor(pageBytes(client) / page.length));
      const ranges = page.map((log) => ({ shard: log.shard, after: log.next, onlyFitting: log !== first }));
      const statement = selectLog(topology, ranges, limit, bytes);
      const { rows, roleOf, errorOf } = await context.admit(group, () =>
        askParts(client, group, read, partsOf(statement)),
      );
      for (const [position, found] of byItem(rows, page.length).entries()) {
        const log = page[position];
        if (!log) continue;
        const error = errorOf(position);
        if (error) fail(log, error);
        else fetched(log, found, roleOf(position), limit);
      }
    },
    fail,
  );
}

function fetched(log: OpenLog, { cells: unordered, head }: ItemRows, role: Role, limit: number): void {
  const cells = unordered.toSorted((one, other) => one.added_id - other.added_id);
  log.head = Math.max(log.head, head);
  log.role = log.role === 'reader' ? 'reader' : role;
  log.stored = untilHole(cells, log.next).slice(0, limit - log.cells.length);
  // At a hole there is nothing more to fetch.
  log.isCut = cells.length < limit && log.stored.length === cells.length && log.next + cells.length < head;
}

function fail(log: OpenLog, error: SchemalessError): void {
  log.isCut = false;
  log.stored = [];
  if (log.role === undefined) log.error = error;
}

/** Returns cells up to a hole, a commit not visible yet: stepping over it would skip a cell for ever. */
export function untilHole(cells: readonly StoredCell[], after: number): readonly StoredCell[] {
  const hole = cells.findIndex(({ added_id }, position) => added_id !== after + position + 1);
  return hole < 0 ? cells : cells.slice(0, hole);
}

/** Asks for items of shards by pages, groups side by side; a failed page fails each of its items. */
async function eachPage<T extends { readonly shard: number }>(
  topology: DatastoreTopology,
  size: number,
  items: readonly T[],
  ask: (page: readonly T[], group: string) => Promise<void>,
  failed: (item: T, error: SchemalessError) => void,
): Promise<void> {
  await Promise.all(
    [...byGroup(topology, items)].map(async ([group, ofGroup]) => {
      for (let from = 0; from < ofGroup.length; from += size) {
        const page = ofGroup.slice(from, from + size);
        try {
          await ask(page, group);
        } catch (error) {
          if (!(error instanceof SchemalessError)) throw error;
          for (const item of page) failed(item, error);
        }
      }
    }),
  );
}

interface OpenLog {
  readonly shard: number;
  /** A time whose place has to be looked up. */
  readonly since: string | undefined;
  readonly cells: Cell[];
  /** The last added id read, or the starting place. */
  next: number;
  head: number;
  stored: readonly StoredCell[];
  isCut: boolean;
  /** `reader` if a reader answered any part. */
  role: Role | undefined;
  error: SchemalessError | undefined;
}

function openLog({ shard, after = 0, since }: Location): OpenLog {
  return { shard, since, cells: [], next: after, head: 0, stored: [], isCut: false, role: undefined, error: undefined };
}

/** Moves fetched cells into the answer by turns, decoded one by one: bodies may inflate a thousandfold. */
function takeInTurn(
  logs: readonly OpenLog[],
  room: AnswerRoom,
  packed: boolean | undefined,
  anyway: boolean,
): { readonly cells: number; readonly isFull: boolean } {
  let cells = 0;
  for (let turn = 0; ; turn += 1) {
    const before = cells;
    for (const log of logs) {
      const stored = log.stored[turn];
      if (!stored) continue;
      const decoded = decodeOrMark(stored, packed);
      if (!room.take(decoded, anyway && cells === 0)) return { cells, isFull: true };
      log.cells.push(decoded.cell);
      log.next = stored.added_id;
      cells += 1;
    }
    if (cells === before) return { cells, isFull: false };
  }
}

/** `more`: cells beyond the room, the limit or a hole remain. */
function toShardLog({ shard, cells, next, head, role = 'writer', error }: OpenLog): ShardLog {
  return error
    ? { shard, error }
    : { shard, cells, next, more: next < head, served_by: role, stale: role === 'reader' };
}

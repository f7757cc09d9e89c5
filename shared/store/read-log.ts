import { LIMITS, type Location, type Role } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { byItem, type StoredCell } from '../sql/cell-rows.ts';
import { findLocations, toAfterIds } from '../sql/statements/find-locations.ts';
import { selectHeads, toHeads } from '../sql/statements/select-heads.ts';
import { selectLog, type LogRange } from '../sql/statements/select-log.ts';
import { requireDatastore } from '../topology/groups.ts';
import type { SqlClient } from '../sql/client.ts';
import { answerRoom, type AnswerRoom } from './answer-room.ts';
import { byGroup, placeOf, type StoreContext } from './context.ts';
import type { Datastore, LogOptions, ShardHead, ShardLog } from './datastore.ts';
import { decodeUntilFull } from './decode.ts';
import { parseBatch, parseLimit, parseLocation } from './parse.ts';
import { parseRead } from './read-cells.ts';
import { askEither, pageBytes } from './read-group.ts';

/** Shards whose logs one statement reads. Some 64 branches take about 1 ms; beyond, parsing grows. */
const SHARDS_A_STATEMENT = 64;
/** Shards whose heads one statement asks for. */
const HEADS_A_STATEMENT = 256;

type Placed = Location & { readonly place: number };

/** The reads of shards' logs. */
export function logReads(context: StoreContext, name: string, shards: number): Pick<Datastore, 'log' | 'heads'> {
  return {
    async log(locations, options: LogOptions = {}): Promise<readonly ShardLog[]> {
      const limit = parseLimit(options.limit);
      const read = parseRead(options.read);
      const wanted = parseBatch(locations, 'locations', (location, prefix) => parseLocation(location, shards, prefix), LIMITS.logCells);
      const topology = await requireDatastore(context.topology, name);
      const answers: ShardLog[] = [];
      const room = answerRoom();
      const groups = byGroup(topology, wanted.map((location, place): Placed => ({ ...location, place })));
      await Promise.all(
        [...groups].map(async ([group, items]) => {
          for (const page of pagesOf(items, SHARDS_A_STATEMENT)) {
            try {
              const client = await context.groups.client(group);
              const logs = await context.admit(group, () => readPage(client, group, { name, page, limit, read, room }));
              for (const [place, log] of logs) answers[place] = log;
            } catch (error) {
              if (!(error instanceof SchemalessError)) throw error;
              for (const { shard, place } of page) answers[place] = { shard, error };
            }
          }
        }),
      );
      return answers;
    },

    async heads(options = {}): Promise<readonly ShardHead[]> {
      const read = parseRead(options.read);
      const topology = await requireDatastore(context.topology, name);
      const answers: ShardHead[] = [];
      const groups = byGroup(topology, topology.places.map((_, shard) => ({ shard })));
      await Promise.all(
        [...groups].flatMap(([group, items]) =>
          pagesOf(items, HEADS_A_STATEMENT).map(async (page) => {
            try {
              const client = await context.groups.client(group);
              const { rows } = await context.admit(group, () => askEither(client, group, read, selectHeads(name, page.map(({ shard }) => shard))));
              const heads = toHeads(rows);
              for (const { shard } of page) answers[shard] = { shard, group, head: heads.get(shard) ?? 0 };
            } catch (error) {
              if (!(error instanceof SchemalessError)) throw error;
              for (const { shard } of page) answers[shard] = { shard, group: placeOf(topology, shard).group, error };
            }
          }),
        ),
      );
      return answers;
    },
  };
}

interface PageRead {
  readonly name: string;
  readonly page: readonly Placed[];
  readonly limit: number;
  readonly read: Role;
  /** What is left of the whole answer's bytes, shared by all pages. */
  readonly room: AnswerRoom;
}

async function readPage(client: SqlClient, group: string, read: PageRead): Promise<(readonly [number, ShardLog])[]> {
  const ranges = await toRanges(client, group, read);
  const left = read.room.left();
  const { role, rows } =
    left > 0
      ? await askEither(client, group, read.read, selectLog(read.name, ranges, read.limit, Math.min(pageBytes(client), Math.ceil(left / ranges.length))))
      : { role: read.read, rows: [] };
  return byItem(rows, ranges.length).map(({ cells }, item) => {
    const { shard, after } = ranges[item] as LogRange;
    const place = read.page[item]?.place ?? -1;
    return [place, toShardLog(shard, after, untilHole(cells, after), role, read.room)];
  });
}

/** Where each location stands: times are looked up, in one statement. */
async function toRanges(client: SqlClient, group: string, { name, page, read }: PageRead): Promise<LogRange[]> {
  const times = page.flatMap(({ shard, since }) => (since === undefined ? [] : [{ shard, since }]));
  const found = times.length === 0 ? [] : toAfterIds((await askEither(client, group, read, findLocations(name, times))).rows);
  let next = 0;
  return page.map(({ shard, after }) => {
    if (after !== undefined) return { shard, after };
    next += 1;
    return { shard, after: found[next - 1] ?? 0 };
  });
}

/**
 * The cells that follow `after` without a hole. Added ids are dense, so a hole is a commit that this snapshot does not
 * show yet: MariaDB can show a later one first for a moment. Stepping over it would skip a cell for ever.
 */
export function untilHole(cells: readonly StoredCell[], after: number): readonly StoredCell[] {
  const hole = cells.findIndex(({ added_id }, place) => added_id !== after + place + 1);
  return hole < 0 ? cells : cells.slice(0, hole);
}

function toShardLog(shard: number, after: number, stored: readonly StoredCell[], role: Role, room: AnswerRoom): ShardLog {
  const served = { served_by: role, stale: role === 'reader' };
  if (room.left() <= 0) return { shard, cells: [], next: after, ...served };
  const cells = decodeUntilFull(stored, room);
  return { shard, cells, next: cells.at(-1)?.added_id ?? after, ...served };
}

function pagesOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, page) => items.slice(page * size, (page + 1) * size));
}

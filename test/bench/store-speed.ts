import { randomBytes, randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { rowKeyBytes, rowKeyOf, shardDatabase, shardOf } from '../../shared/address.ts';
import { decodeBody, encodeBody } from '../../shared/body/codec.ts';
import { LIMITS, type NewCell } from '../../shared/cell.ts';
import { parseQuery } from '../../shared/index/query.ts';
import type { IndexQuery } from '../../shared/contract/index-query.ts';
import { quoteName } from '../../shared/sql/names.ts';
import { selectCells, type ShardKey } from '../../shared/sql/statements/select-cells.ts';
import { selectEntries } from '../../shared/index/statements/select-entries.ts';
import { selectRow } from '../../shared/sql/statements/select-row.ts';
import { DATASTORE, openStore, type OpenStore } from '../support/store-access.ts';
import type { Bench, BenchWorld, Findings } from './bench.ts';
import { DRIVER_INDEX, type ByHand } from './by-hand.ts';
import { CONNECTIONS, GROUPS, openNextToHand, SHARDS } from './open-next-to-hand.ts';
import type { PlainTables } from './plain-tables.ts';
import { tellRows, type Rows } from './rows.ts';
import { warmUp, type Sides } from './side-by-side.ts';

const BATCH = 100;
const AT_ONCE = 32;
const WRITERS = 64;
/** The time for each kind of put, before the first row. */
const WARM_PUTS_MS = 2000;
/** The time for the store's side of each row. */
const WARM_MS = 1500;
/** Each of 32 puts takes 15 to 110 ms, by the disk: a round has several turns on a fast one, one on a slow one. */
const PUTS_ROUND_MS = 360;
const INSTEAD = 'next to two plain inserts, what a user would do instead';
const HOT_SHARD = 7;
/** The number of rows that are read back. */
const ROWS = 400;
const FOUND = 50;

export const storeBench: Bench = {
  name: 'store',
  what: `the cost of the store compared with its own statements by hand, and with plain tables: ${GROUPS} groups, ${SHARDS} shards`,
  limitMinutes: 5,

  async measure(world: BenchWorld): Promise<Findings> {
    const { signal } = world;
    await using parts = new AsyncDisposableStack();
    const { engine, access, store, topology, index, hand, plain } = parts.use(await openNextToHand(world));
    const bare = parts.use(await openStore({ ...access, bufferCopies: 0 }, { connections: CONNECTIONS }));

    const { measured, compare } = tellRows(engine, world, { ourWarmMs: WARM_MS });
    // One at a time, puts would not be compiled before their rows are over: the store has more code than that by hand.
    const puts = [
      () => stored(store, trip()),
      () => stored(bare, note()),
      () => once(hand.put(trip())),
      () => once(hand.append(note())),
      () => once(plain.put(trip())),
    ];
    await warmUp(puts, { atOnce: AT_ONCE, milliseconds: WARM_PUTS_MS }, signal);
    await compareWrites({ store, bare, hand, plain }, compare);
    await compareAppends(hand, compare);
    await compareReads({ store, hand, plain }, topology.shards, index, compare);
    return { measured };
  },
};

/** A store, and the code that it is compared with. */
interface NextTo {
  readonly store: OpenStore;
  readonly hand: ByHand;
  readonly plain: PlainTables;
}

async function compareWrites(
  { store, bare, hand, plain }: NextTo & { readonly bare: OpenStore },
  compare: Rows['compare'],
): Promise<void> {
  for (const together of [{ atOnce: 1 }, { atOnce: AT_ONCE, roundMs: PUTS_ROUND_MS }]) {
    await compare(`put: buffer, append, an entry; ${together.atOnce} at once`, {
      bar: 0.85,
      ours: () => stored(store, trip()),
      theirs: () => once(hand.put(trip())),
      ...together,
    });
    await compare(`put, ${INSTEAD}; ${together.atOnce} at once`, {
      ours: () => stored(store, trip()),
      theirs: () => once(plain.put(trip())),
      ...together,
    });
    await compare(`put: append alone; ${together.atOnce} at once`, {
      bar: 0.9,
      ours: () => stored(bare, note()),
      theirs: () => once(hand.append(note())),
      ...together,
    });
  }
  const next = cellsOfRows(HOT_SHARD);
  const some = (cell: () => NewCell): NewCell[] => Array.from({ length: BATCH }, cell);
  await compare(`batch of ${BATCH} cells of one shard, of ten rows, next to single puts`, {
    bar: 5,
    ours: () => storedAll(store, some(next)),
    theirs: () => stored(store, next()),
  });
  const nextNote = (): NewCell => ({ ...next(), column_name: 'NOTE' });
  await compare(`${WRITERS} writers to one shard: puts that join, next to an append each`, {
    bar: 4,
    ours: () => stored(bare, nextNote()),
    theirs: () => once(hand.append(nextNote())),
    atOnce: WRITERS,
  });
}

/** Measures the cost of a log without holes, compared with the same row with an AUTO_INCREMENT id. */
async function compareAppends(hand: ByHand, compare: Rows['compare']): Promise<void> {
  const table = (shard: number): string => `${quoteName(shardDatabase(DATASTORE, shard))}.plain`;
  for (let shard = 0; shard < SHARDS; shard += 1) {
    await hand.run(hand.groupOf(shard), {
      sql: `CREATE TABLE ${table(shard)} (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, row_key BINARY(16) NOT NULL, column_name VARBINARY(255) NOT NULL, ref_key BIGINT NOT NULL, body MEDIUMBLOB NULL, created_at DATETIME(6) NOT NULL, UNIQUE KEY cell (row_key, column_name, ref_key)) ENGINE=InnoDB`,
      parameters: [],
    });
  }
  const plain = async ({ row_key, column_name, ref_key, body }: NewCell): Promise<void> => {
    const shard = shardOf(row_key, SHARDS);
    await hand.run(hand.groupOf(shard), {
      sql: `INSERT INTO ${table(shard)} (row_key, column_name, ref_key, body, created_at) VALUES (?, ?, ?, ?, SYSDATE(6))`,
      parameters: [rowKeyBytes(row_key), Buffer.from(column_name), ref_key, encodeBody(body)],
    });
  };
  await compare(`the append, next to AUTO_INCREMENT; ${SHARDS} shards, ${AT_ONCE} at once`, {
    bar: 0.6,
    ours: () => once(hand.append(note())),
    theirs: () => once(plain(note())),
    atOnce: AT_ONCE,
  });
}

async function compareReads(
  { store: { datastore }, hand, plain }: NextTo,
  shards: number,
  index: Parameters<typeof selectEntries>[1],
  compare: Rows['compare'],
): Promise<void> {
  const driver = randomUUID();
  const rows = Array.from({ length: ROWS }, (_, position) =>
    trip(randomUUID(), position < FOUND ? driver : randomUUID()),
  );
  for (let start = 0; start < ROWS; start += BATCH) await datastore.batchPut(rows.slice(start, start + BATCH));
  await Promise.all(rows.map((row) => plain.put(row)));
  const anyRow = (): NewCell => rows[Math.floor(Math.random() * ROWS)] as NewCell;
  const inShard = ({ row_key, column_name }: NewCell): ShardKey => ({
    key: { row_key, column_name },
    shard: shardOf(row_key, shards),
  });
  const select = (keys: readonly ShardKey[]): Promise<Selected[]> =>
    Promise.all(
      [...Map.groupBy(keys, ({ shard }) => hand.groupOf(shard))].map(([group, ofGroup]) =>
        hand.run(group, selectCells({ datastore: DATASTORE }, ofGroup, false)),
      ),
    );
  /** Returns the bare SELECTs, and the same with their bodies decoded, which every use of them requires. */
  const sidesOf = (read: () => Promise<readonly Selected[]>): Pick<Sides, 'theirs' | 'bare'> => ({
    theirs: async () => decodeAll(await read()),
    bare: async () => countOf(await read()),
  });

  for (const atOnce of [1, AT_ONCE]) {
    await compare(`get latest; ${atOnce} at once`, {
      bar: 0.85,
      ours: async () => ((await datastore.getLatest(anyRow())).cell ? 1 : 0),
      ...sidesOf(() => select([inShard(anyRow())])),
      atOnce,
    });
    await compare(`get latest, next to a plain SELECT; ${atOnce} at once`, {
      ours: async () => ((await datastore.getLatest(anyRow())).cell ? 1 : 0),
      theirs: async () => ((await plain.latest(anyRow())) === undefined ? 0 : 1),
      atOnce,
    });
  }
  const selectRowOf = ({ row_key }: NewCell): Promise<Selected> => {
    const shard = shardOf(row_key, shards);
    const whole = { columns: undefined, after: undefined, limit: LIMITS.listCells + 1, bytes: LIMITS.requestBytes };
    return hand.run(hand.groupOf(shard), selectRow({ datastore: DATASTORE }, shard, { row_key, ...whole }, false));
  };
  await compare('get row', {
    bar: 0.85,
    ours: async () => (await datastore.row(anyRow().row_key)).cells.length,
    ...sidesOf(async () => [await selectRowOf(anyRow())]),
  });
  const some = (): NewCell[] => Array.from({ length: BATCH }, anyRow);
  await compare(`batch get of ${BATCH}`, {
    bar: 0.85,
    ours: async () =>
      (await datastore.batchGet(some().map(({ row_key, column_name }) => ({ row_key, column_name })))).length,
    ...sidesOf(() => select(some().map(inShard))),
  });

  const query: IndexQuery = {
    index: DRIVER_INDEX.name,
    where: { driver_uuid: driver },
    limit: FOUND,
  };
  const parsed = parseQuery(query, DRIVER_INDEX, shards);
  const entries = (): Promise<Selected> =>
    hand.run(hand.groupOf(parsed.shard), selectEntries(DATASTORE, index, parsed));
  await compare(`query of ${FOUND} rows`, {
    bar: 0.8,
    ours: async () => (await datastore.query(query)).entries.length,
    theirs: async () => (await entries()).length,
  });
  await compare(`query of ${FOUND} rows that may share a statement, next to one each; ${AT_ONCE} at once`, {
    ours: async () => (await datastore.query({ ...query, batched: true })).entries.length,
    theirs: async () => (await datastore.query(query)).entries.length,
    atOnce: AT_ONCE,
  });
  const withColumn = async (): Promise<Selected[]> => {
    const found = await entries();
    return select(
      found.map(([row_key]) => inShard({ ...(rows[0] as NewCell), row_key: rowKeyOf(row_key as Uint8Array) })),
    );
  };
  await compare(`query of ${FOUND} rows with a column`, {
    bar: 0.8,
    ours: async () => (await datastore.query({ ...query, columns: ['BASE'] })).entries.length,
    ...sidesOf(withColumn),
  });
}

type Selected = Awaited<ReturnType<ByHand['run']>>;

/** The position of the body in the columns of `cellColumns`. */
const BODY = 6;

function decodeAll(results: readonly Selected[]): number {
  for (const rows of results) for (const row of rows) decodeBody(row[BODY] as Uint8Array);
  return countOf(results);
}

function countOf(results: readonly Selected[]): number {
  return results.reduce((sum, { length }) => sum + length, 0);
}

/** Returns a cell of about a kilobyte of JSON. */
function trip(row_key: string = randomUUID(), driver_uuid: string = randomUUID()): NewCell {
  const places = Array.from({ length: 8 }, (_, position) => ({
    at: `2026-01-31T08:0${position}:00.000Z`,
    latitude: 38.7 + Math.random() / 10,
    longitude: -9.1 - Math.random() / 10,
  }));
  return {
    row_key,
    column_name: 'BASE',
    ref_key: 1,
    body: {
      driver_uuid,
      rider_uuid: randomUUID(),
      city: 'Lisbon',
      status: 'completed',
      fare: { total: Math.round(Math.random() * 5000) / 100, currency: 'EUR' },
      places,
    },
  };
}

/** Returns the same in a column without an index. */
function note(): NewCell {
  return { ...trip(), column_name: 'NOTE' };
}

/** Returns a maker of cells of ten rows of one shard, each of the next version. */
function cellsOfRows(shard: number): () => NewCell {
  const rows = Array.from({ length: 10 }, () => rowOf(shard));
  let made = 0;
  return () => {
    made += 1;
    return { ...trip(rows[made % rows.length]), ref_key: made };
  };
}

function rowOf(shard: number): string {
  const bytes = randomBytes(16);
  for (let last = 0; crc32(bytes) % SHARDS !== shard; last += 1) bytes.writeUInt32LE(last, 12);
  return rowKeyOf(bytes);
}

async function stored({ datastore }: OpenStore, cell: NewCell): Promise<number> {
  const { outcome } = await datastore.put(cell);
  if (outcome !== 'stored') throw new Error(`a put was answered ${outcome}`);
  return 1;
}

async function storedAll({ datastore }: OpenStore, cells: readonly NewCell[]): Promise<number> {
  const refused = (await datastore.batchPut(cells)).find(({ outcome }) => outcome !== 'stored');
  if (refused) throw new Error(`a cell of a batch was answered ${refused.outcome}`);
  return cells.length;
}

async function once(work: Promise<void>): Promise<number> {
  await work;
  return 1;
}

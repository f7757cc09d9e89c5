import { randomUUID } from 'node:crypto';
import type { RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { indexTable, type PhysicalIndex } from '../../../shared/index/index-table.ts';
import { DEPTH } from '../../../shared/index/wanted-entries.ts';
import { parseQuery, type ParsedQuery } from '../../../shared/index/query.ts';
import type { IndexQuery } from '../../../shared/contract/index-query.ts';
import type { Where } from '../../../shared/where.ts';
import type { Statement } from '../../../shared/sql/client.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { countPage } from '../../../shared/index/statements/count-entries.ts';
import { countFound } from '../../../shared/index/statements/count-found.ts';
import { deleteTombstones } from '../../../shared/index/statements/delete-tombstones.ts';
import { putEntries, type IndexRow } from '../../../shared/index/statements/put-entries.ts';
import { selectEntriesOfRow } from '../../../shared/index/statements/select-entries-of-row.ts';
import { selectEntries } from '../../../shared/index/statements/select-entries.ts';
import { selectExistingEntries } from '../../../shared/index/statements/select-existing-entries.ts';
import { selectIndexPage } from '../../../shared/index/statements/select-index-page.ts';
import { selectRowKeys } from '../../../shared/sql/statements/select-row-keys.ts';
import { selectRowStates } from '../../../shared/sql/statements/select-row-states.ts';
import { unionOf } from '../../../shared/sql/union.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { rowsRead, rowsReadWithoutStatistics } from '../../support/rows-read.ts';
import { shardOfValue } from '../../../shared/definitions/field-value.ts';
import { connectionTo } from '../../support/connection-to.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { indexOn } from '../../support/index-on.ts';

/**
 * Counts the rows that each index statement reads, by the servers' own counters. The queried driver has 500 of the
 * shard's 3000 entries, to reveal a plan that reads the table or all entries of the driver.
 */
const SHARDS = 4;
const ENTRIES = 3000;
const OF_DRIVER = 500;
const DEFINITION = indexOn(
  'plan_index',
  { driver: 'UUID', city: 'string', created_at: 'datetime', riders: 'integer' },
  [['city', 'created_at']],
);

const { store, trips, name: datastore, groupOf } = await sharedTrips(SHARDS, { indexes: [DEFINITION] });
const [version] = (await store.topology.indexes(datastore))[0]?.versions ?? [];
const index: PhysicalIndex = { name: DEFINITION.name, hash: version?.hash ?? '', definition: DEFINITION };
const driver = randomUUID();
const shard = shardOfValue(driver, 'UUID', SHARDS);
const connection = await connectionTo(groupOf(shard));
afterAll(() => connection.end());
const [[server]] = await connection.query<RowDataPacket[]>('SELECT VERSION() AS version');
/**
 * A range of a field, or several values of it. MariaDB 10.11 takes the primary key for cheaper at times, by its
 * estimate
 * of pages, and reads all entries of the driver.
 */
const OF_RANGE = String(server?.['version']).includes('MariaDB') ? OF_DRIVER + 20 : 20 * 3;

beforeAll(async () => {
  const rows = Array.from({ length: ENTRIES }, (_, position) =>
    entry(position < OF_DRIVER ? driver : randomUUID(), position),
  );
  for (let start = 0; start < ENTRIES; start += 500)
    await run(putEntries(datastore, shard, index, rows.slice(start, start + 500)));
  const keys = rowsOfShard(shard, SHARDS, 20);
  for (let start = 0; start < 400; start += 100) {
    await trips.batchPut(
      Array.from({ length: 100 }, (_, position) =>
        cellOf({
          row_key: keys[position % 20] ?? '',
          ref_key: start + position,
          column_name: position % 2 === 0 ? 'BASE' : 'NOTES',
          body: { driver },
        }),
      ),
    );
  }
  await connection.query(`ANALYZE TABLE ${indexTable(datastore, shard, index)}`);
});

/** Ten entries of a driver in each of 50 cities; one a minute; every tenth without riders. */
const entry = (value: string, position: number): IndexRow => ({
  row_key: randomUUID(),
  values: [
    value,
    `city ${position % 50}`,
    new Date(Date.UTC(2026, 0, 1, 0, position)).toISOString().replace('Z', '000Z'),
    position % 10 === 0 ? null : position,
  ],
  tombstone: false,
  version: { epoch: 1, added_id: 1 },
});

async function run({ sql, parameters }: Statement): Promise<void> {
  await connection.query(sql, [...parameters]);
}

const minute = (at: number): string => new Date(Date.UTC(2026, 0, 1, 0, at)).toISOString();

function parsed(conditions: Where, rest: Partial<IndexQuery> = {}): ParsedQuery {
  const where = { driver, ...conditions };
  return parseQuery({ index: DEFINITION.name, where, limit: 1000, ...rest }, DEFINITION, SHARDS);
}
const query = (conditions: Where, rest?: Partial<IndexQuery>) => (): Statement =>
  selectEntries(datastore, index, parsed(conditions, rest));
const PAGE = { limit: 20 };
const [inSeven, notSeven] = [{ city: 'city 7' }, { city: { ne: 'city 7' } }];
const between = (at: number, end?: number): Where => ({
  created_at: { gte: minute(at), ...(end !== undefined && { lt: minute(end) }) },
});
const ofBoth = (): Statement =>
  unionOf([parsed({}, PAGE), parsed(inSeven, PAGE)].map((one, item) => selectEntries(datastore, index, one, item)));
const count = (conditions: Where, most: number) => (): Statement =>
  countFound(datastore, index, parsed(conditions, PAGE), most);
const TABLES = [indexTable(datastore, shard, index), entityTable(datastore, shard)];

describe('rows read by queries', () => {
  // The rows of the range, and a few to find its ends; a sort reads its rows twice.
  it.each<[string, () => Statement, number]>([
    ['a page of a driver', query({}, PAGE), 20 + 10],
    ['equality: 10 entries', query(inSeven), 10 * 3],
    ['a range: 20 entries', query(between(100, 120)), OF_RANGE],
    ['one of two values: 20 entries', query({ city: { in: ['city 7', 'city 8'] } }), OF_RANGE],
    ['combined keys: 2 entries', query({ ...inSeven, created_at: { lt: minute(100) } }), 2 * 3 + 10],
    ['pages of a driver and of one of their cities, in one statement', ofBoth, 20 + 10 + 10 * 3],
    ['a count as far as 20', count({}, 20), 20 * 2 + 10],
    ['a count of one of their cities', count(inSeven, 1000), 10 * 3],
    ['a page in the order of a field', query({}, { ...PAGE, order: 'created_at' }), 20 + 10],
    ['a page in the reverse order of a field', query({}, { ...PAGE, order: '-created_at' }), 20 + 10],
  ])('for %s are those of the range', async (_what, statement, most) => {
    const made = statement();
    expect(TABLES).toContain(made.table);
    expect(await rowsRead(connection, made)).toBeLessThanOrEqual(most);
  });

  it.each<[string, () => Statement]>([
    ['≠', query(notSeven)],
    ['two ranges', query({ ...between(10), riders: { lt: 490 } })],
    ['≠ on two fields, ordered by a third', query({ ...notSeven, riders: { ne: 7 } }, { order: 'created_at' })],
  ])("without a key (%s) are at most the driver's entries", async (_what, statement) => {
    // Each entry once, and each found one twice if sorted.
    expect(await rowsRead(connection, statement())).toBeLessThanOrEqual(2 * OF_DRIVER + 20);
  });
});

describe('rows read to keep an index', () => {
  const keys = () => rowsOfShard(shard, SHARDS, 20).map((row_key) => ({ row_key, shard }));
  const at = { value: driver, row_key: '00000000-0000-0000-0000-000000000000' };
  const some = () => Array.from({ length: 50 }, (_, position) => entry(driver, position));
  const existing = () => keys().map(({ row_key }, item) => ({ item, shard, value: driver, row_key }));
  const states = (isLong?: true) => (): Statement => {
    const columns = [
      { column: 'BASE', cells: DEPTH.recent, ...(isLong && { isLong }) },
      { column: 'NOTES', cells: 1, ...(isLong && { isLong }) },
    ];
    return unionOf(selectRowStates(datastore, keys(), columns, 10_000));
  };
  const tombstones = () => deleteTombstones(datastore, shard, index, { ageMs: 0, limit: 200 });
  const STATEMENTS: readonly (readonly [what: string, statement: () => Statement, most: number])[] = [
    ['writing 50 entries', () => putEntries(datastore, shard, index, some()), 50 * 2],
    ['50 existing entries', () => selectExistingEntries(datastore, index, existing()), 20 * 3],
    ['the latest states of 20 rows of 20 cells', states(), 20 * 14],
    ['the latest states of 20 rows of 20 cells, of columns that are known to be long', states(true), 20 * 14],
    ['a page of a scan of the entries', () => selectIndexPage(datastore, shard, index, at, 50), 50 + 20],
    ['all entries of a row', () => selectEntriesOfRow(datastore, shard, index, randomUUID()), ENTRIES + 300],
    // Two ranges, and what they bring read again and again to be put in order, cut and summed up, all in memory.
    ['counting 50 entries after one', () => countPage(datastore, index, { shard, after: at }, 50, 0), 50 * 20],
    ['a page of row keys', () => selectRowKeys(datastore, shard, undefined, 10), 10 * 3 + 10],
    ['purging tombstones where there are none', tombstones, 5],
  ];

  it.each(STATEMENTS)('for %s are few', async (_what, statement, most) => {
    const made = statement();
    expect(TABLES).toContain(made.table);
    expect(await rowsRead(connection, made)).toBeLessThanOrEqual(most);
  });

  it('are few by the statistics of an empty table, too', async () => {
    const [database = '', table = ''] = indexTable(datastore, shard, index).replaceAll('`', '').split('.');
    const tables = [table, 'entity'].map((one) => [database, one] as const);
    const read: [what: string, rows: number, most: number][] = [];
    // MySQL steps from row to row by statistics alone, else through their cells: only scans of all rows ask so.
    for (const [what, statement, most] of STATEMENTS.filter(([what]) => what !== 'a page of row keys'))
      read.push([what, await rowsReadWithoutStatistics(connection, tables, statement), most]);
    expect(read.filter(([, rows, most]) => rows > most)).toEqual([]);
  });

  it('are many where a statement scans: the measure itself can fail', async () => {
    expect(
      await rowsRead(connection, {
        sql: `SELECT COUNT(*) FROM ${indexTable(datastore, shard, index)} WHERE added_id > 5`,
        parameters: [],
      }),
    ).toBeGreaterThan(ENTRIES);
  });
});

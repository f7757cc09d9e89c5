import { setTimeout as sleep } from 'node:timers/promises';
import { rowKeyOf, shardDatabase } from '../../../shared/address.ts';
import type { CellAddress } from '../../../shared/cell.ts';
import { toBytes, toNumber, toText } from '../../../shared/sql/cell-rows.ts';
import { openBufferTables } from '../outages/buffer-tables.ts';
import { addressOf } from '../stored-cells.ts';
import { DATASTORE, type GroupAccess, type OpenStore } from '../../support/store-access.ts';
import { withClient } from '../../support/past-the-store.ts';

/** What came of writing other bodies to addresses of acknowledged cells that their primary lost. */
export interface Taken {
  readonly addresses: number;
  readonly tries: number;
  /** Answered `stored`: the acknowledged cell has lost its place. */
  readonly stored: number;
}

const ADDRESSES = 200;
const SIDE_BY_SIDE = 4;
const PAUSE_MS = 20;

/** Longer than a write takes: whoever was under way has been answered by then. */
const UNDER_WAY_MS = 5000;

/**
 * Addresses of cells that were answered `stored` and that the writer of some shards lacks now; without those that are
 * about to be answered `buffered`.
 */
export async function lostAddresses(
  groups: readonly GroupAccess[],
  store: OpenStore,
  shards: ReadonlySet<number>,
): Promise<readonly CellAddress[]> {
  const first = new Set((await unansweredAddresses(groups, store, shards)).map(addressOf));
  await sleep(UNDER_WAY_MS);
  return (await unansweredAddresses(groups, store, shards)).filter((address) => first.has(addressOf(address)));
}

async function unansweredAddresses(
  groups: readonly GroupAccess[],
  store: OpenStore,
  shards: ReadonlySet<number>,
): Promise<readonly CellAddress[]> {
  await using tables = openBufferTables(groups);
  const list = [...shards].join(', ');
  const sql = `SELECT row_key, column_name, ref_key FROM \`schemaless\`.buffer WHERE datastore = ? AND shard IN (${list}) AND answered < writers ORDER BY id DESC LIMIT 2000`;
  const addresses = (await tables.rows(sql, [DATASTORE])).map(([rowKey, name, ref]): CellAddress => ({
    row_key: rowKeyOf(toBytes(rowKey)),
    column_name: toText(name),
    ref_key: toNumber(ref),
  }));
  const lost: CellAddress[] = [];
  for (let start = 0; start < addresses.length && lost.length < ADDRESSES; start += 100) {
    const some = addresses.slice(start, start + 100);
    const found = await store.datastore.batchGet(some);
    lost.push(...some.filter((_, position) => found[position] === null));
  }
  return lost.slice(0, ADDRESSES);
}

/** Writes another body to each of the addresses, again and again, until it is told to end. */
export async function takeAddresses(
  { datastore }: OpenStore,
  addresses: readonly CellAddress[],
  end: AbortSignal,
): Promise<Taken> {
  let [tries, stored, next] = [0, 0, 0];
  await Promise.all(
    Array.from({ length: SIDE_BY_SIDE }, async () => {
      while (!end.aborted && addresses.length > 0) {
        const address = addresses[next++ % addresses.length] as CellAddress;
        const { outcome } = await datastore.put({ ...address, body: 'taken' });
        tries += 1;
        if (outcome === 'stored') stored += 1;
        await sleep(PAUSE_MS);
      }
    }),
  );
  return { addresses: addresses.length, tries, stored };
}

/**
 * Lets a group's writer refuse each append to some shards, as a server does whose tablespace is full or that lacks a
 * right: error 1644, of the same sort.
 */
export async function refuseAppends(
  groups: readonly GroupAccess[],
  group: string,
  shards: Iterable<number>,
): Promise<void> {
  const sqlOf = (database: string): string =>
    `CREATE TRIGGER ${database}.refuses BEFORE INSERT ON ${database}.entity FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'`;
  await onDatabases(groups, group, shards, sqlOf);
}

/** Mends it, on the group's writer. */
export async function takeAppends(
  groups: readonly GroupAccess[],
  group: string,
  shards: Iterable<number>,
): Promise<void> {
  await onDatabases(groups, group, shards, (database) => `DROP TRIGGER IF EXISTS ${database}.refuses`);
}

async function onDatabases(
  groups: readonly GroupAccess[],
  group: string,
  shards: Iterable<number>,
  sqlOf: (database: string) => string,
): Promise<void> {
  await withClient(groups, group, async (client) => {
    for (const shard of shards) await client.change({ sql: sqlOf(shardDatabase(DATASTORE, shard)), parameters: [] });
  });
}

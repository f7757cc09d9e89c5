import { rowKeyBytes, shardDatabase } from '../../shared/address.ts';
import { toNumber } from '../../shared/sql/cell-rows.ts';
import type { SqlClient } from '../../shared/sql/client.ts';
import { entityTable } from '../../shared/sql/names.ts';
import { createStore, startServers } from '../support/cluster.ts';
import { randomRowKey } from '../support/row-key.ts';
import { Random } from '../support/random.ts';
import { DATASTORE, groupClient, openStore } from '../support/store-access.ts';
import type { Bench, BenchWorld, Findings } from './bench.ts';
import { rowsOn } from './rows.ts';

const SHARDS = 4096;
const GROUPS = 3;
const READERS = 1;
const ROWS = 200;
const BAR_SECONDS = { mariadb: 60, mysql: 180 } as const;

/** The query by which an operator finds a row's shard. */
const BY_HAND = `SELECT CRC32(UNHEX(REPLACE(?, '-', ''))) % ${SHARDS}`;

export const shardsBench: Bench = {
  name: 'shards',
  what: `creating a datastore of ${SHARDS} shards on ${GROUPS} fresh groups, each a writer and a reader; finding rows by hand`,
  isolated: true,
  limitMinutes: 3,

  async measure({ folder, engine: desired, seed, say }: BenchWorld): Promise<Findings> {
    const { servers, groups, engine } = await startServers({
      folder,
      engine: desired,
      groups: GROUPS,
      readers: READERS,
      shards: SHARDS,
    });
    await using parts = new AsyncDisposableStack();
    parts.defer(() => servers.stop());
    say('servers run; creating the shards');

    const start = performance.now();
    const { access } = parts.use(await createStore(groups, { shards: SHARDS, bufferCopies: 1 }));
    const created = since(start);
    say(`created in ${created.toFixed(1)} s`);
    const { datastore } = parts.use(await openStore(access));
    const random = new Random(seed, 'row keys', 0);
    const rowKeys = Array.from({ length: ROWS }, () => randomRowKey(random));
    const written: { readonly rowKey: string; readonly shard: number }[] = [];
    for (const row_key of rowKeys) {
      const put = await datastore.put({ row_key, column_name: 'BASE', ref_key: 1, body: { written_by: 'bench' } });
      if (put.outcome === 'stored') written.push({ rowKey: row_key, shard: put.shard });
    }
    const ready = since(start);
    const bar = BAR_SECONDS[servers.engine.kind];

    const clients = groups.map(({ name }) => groupClient(groups, name));
    for (const client of clients) parts.defer(() => client.close());
    let found = 0;
    for (const { rowKey, shard } of written) if (await isFoundByHand(clients, rowKey, shard)) found += 1;

    const row = rowsOn(engine);
    return {
      measured: [
        row(
          `${SHARDS} shards created, and ${ROWS} puts to random ones answered`,
          `${ready.toFixed(1)} s (created ${created.toFixed(1)} s), ${written.length} stored`,
          `under ${bar} s, ${ROWS} stored`,
          ready < bar && written.length === ROWS,
        ),
        row('rows found in the one database that CRC32 names', `${found} of ${ROWS}`, `${ROWS}`, found === ROWS),
      ],
    };
  },
};

/** Returns whether the row is in the named database, which one group alone has, as the store reported. */
async function isFoundByHand(clients: readonly SqlClient[], rowKey: string, shard: number): Promise<boolean> {
  const [first] = clients;
  if (!first) return false;
  const [[byHand] = []] = await first.select({ sql: BY_HAND, parameters: [rowKey] }, 'writer');
  const database = shardDatabase(DATASTORE, toNumber(byHand));
  const holders: SqlClient[] = [];
  for (const client of clients) {
    const known = await client.select(
      { sql: 'SELECT 1 FROM information_schema.schemata WHERE schema_name = ?', parameters: [database] },
      'writer',
    );
    if (known.length > 0) holders.push(client);
  }
  const [holder] = holders;
  if (!holder || holders.length > 1 || toNumber(byHand) !== shard) return false;
  const [[count] = []] = await holder.select(
    {
      sql: `SELECT COUNT(*) FROM ${entityTable(DATASTORE, toNumber(byHand))} WHERE row_key = ?`,
      parameters: [rowKeyBytes(rowKey)],
    },
    'writer',
  );
  return toNumber(count) === 1;
}

function since(start: number): number {
  return (performance.now() - start) / 1000;
}

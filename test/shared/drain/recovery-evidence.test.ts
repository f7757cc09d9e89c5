import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { encodeBody } from '../../../shared/body/codec.ts';
import { recoverPrimary } from '../../../shared/drain/recover-primary.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { SqlError, type SqlClient, type Statement } from '../../../shared/sql/client.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import type { BufferOperations, Datastore } from '../../../shared/contract/datastore.ts';
import { writeGroups } from '../../../shared/topology/dynamo-topology.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';

/** What lets a promoted writer take appends again: nothing that was cached, or said by another server. */
const SHARDS = 6;
const ANOTHER_SERVER = 4_294_000_000;

let store: RealStore;
let trips: Datastore & BufferOperations;
let primary: string;
/** Answers instead of a group. */
let instead: (group: string, statement: Statement, run: () => Promise<never>) => Promise<never> = (
  _group,
  _statement,
  run,
) => run();

beforeAll(async () => {
  store = await openRealStore({
    datastores: { trips: SHARDS },
    wrap: (client, group): SqlClient => ({
      ...client,
      select: (statement, target) =>
        instead(group, statement, () => client.select(statement, target) as Promise<never>),
    }),
  });
  trips = await store.deployment.datastore(store.nameOf('trips'));
  primary = (await store.topology.datastore(store.nameOf('trips')))?.places[0]?.group ?? '';
});
afterEach(() => {
  instead = (_group, _statement, run) => run();
});
afterAll(() => store.close());

const newCell = (): NewCell => cellOf({ row_key: rowsOfShard(0, SHARDS, 1)[0] ?? '', body: 'acknowledged' });
const writer = (): SqlClient => store.client(primary);
const others = (): string[] => store.groups.map(({ name }) => name).filter((name) => name !== primary);
const bodyOf = async (cell: NewCell) => (await trips.get(cell)).cell?.body;
const recover = () => recoverPrimary(store.context, primary);

/** As after the promotion of a reader, of which only the copies on these groups know what it lacks. */
async function promote(cell: NewCell, holders: readonly string[]): Promise<void> {
  for (const group of holders)
    await store
      .client(group)
      .change(insertBuffered(store.nameOf('trips'), [{ ...cell, shard: 0, encoded: encodeBody(cell.body) }]));
  await writer().change({
    sql: 'UPDATE schemaless.shard SET writer_id = ? WHERE datastore = ?',
    parameters: [ANOTHER_SERVER, store.nameOf('trips')],
  });
}

describe('a promoted writer that lacks a cell', () => {
  it('gets it from a group that was added a moment ago, which no cache knows', async () => {
    const [added = '', known = ''] = others();
    const cell = newCell();
    const table = store.topologyTable;
    const all = await store.topology.groups();
    await writeGroups(
      table,
      all.filter(({ name }) => name !== added),
    );
    store.topology.refresh();
    expect((await store.topology.groups()).map(({ name }) => name)).toContain(known);
    await writeGroups(table, all);
    await promote(cell, [added]);
    // A first look may find the new group without knowing yet how it is reached: then nothing is opened.
    await expect
      .poll(
        () =>
          recover().then(
            (recovery) => recovery?.opened,
            () => 0,
          ),
        { timeout: 10_000 },
      )
      .toBe(2);
    expect(await bodyOf(cell)).toBe('acknowledged');
  });

  it('stays closed while the topology does not say which groups there are', async () => {
    const cell = newCell();
    await promote(cell, others());
    const all = await store.topology.groups();
    await writeGroups(store.topologyTable, []);
    await expect(recover()).rejects.toMatchObject({ code: 'unavailable' });
    await writeGroups(store.topologyTable, all);
    await recover();
    expect(await bodyOf(cell)).toBe('acknowledged');
  });

  it('gets it from another group where the first has lost its copy meanwhile', async () => {
    const cell = newCell();
    await promote(cell, others());
    const [first] = others();
    // Gone between the look at what is there and the look at its body.
    instead = (group, { sql }, run) =>
      group === first && sql.includes(', body, created_at') ? (Promise.resolve([]) as Promise<never>) : run();
    await recover();
    expect(await bodyOf(cell)).toBe('acknowledged');
  });

  it('is not opened by what another server shows', async () => {
    const cell = newCell();
    expect((await trips.put(cell)).outcome).toBe('stored');
    await promote(cell, others());
    instead = async (group, { sql }, run) => {
      const rows: readonly (readonly unknown[])[] = await run();
      return (
        group === primary && sql.startsWith('SELECT -1 AS item')
          ? rows.map(([item, value]) => [item, Number(item) < 0 ? Buffer.from('77') : value])
          : rows
      ) as never;
    };
    expect(await recover()).toMatchObject({ opened: 1, closed: [{ shard: 0 }] });
    instead = (_group, _statement, run) => run();
    expect(await recover()).toMatchObject({ opened: 1 });
  });

  it('is not opened by the word of a group that takes no writes itself: it may lack copies', async () => {
    const cell = newCell();
    await promote(cell, others());
    // As a former writer answers on a connection that was opened when it was one.
    instead = async (group, { sql }, run) => {
      const rows: readonly (readonly unknown[])[] = await run();
      return (
        group !== primary && sql.includes('SELECT page.id')
          ? rows.filter(([id]) => Number(id) === 0).map(([id, datastore, , ...rest]) => [id, datastore, 0, ...rest])
          : rows
      ) as never;
    };
    await expect(recover()).rejects.toThrow('takes no writes');
    instead = (_group, _statement, run) => run();
    await recover();
    expect(await bodyOf(cell)).toBe('acknowledged');
  });

  it('stays closed where a copy is gone from everywhere as it is fetched: nobody knows yet why', async () => {
    const cell = newCell();
    await promote(cell, others());
    instead = (_group, { sql }, run) =>
      sql.includes(', body, created_at') ? (Promise.resolve([]) as Promise<never>) : run();
    expect(await recover()).toMatchObject({ closed: [{ shard: 0 }] });
    instead = (_group, _statement, run) => run();
    await recover();
    expect(await bodyOf(cell)).toBe('acknowledged');
  });

  it('is not taken for the writer that it is not, when a server is made anew under the old id', async () => {
    const [serverId] = (await writer().select({ sql: 'SELECT @@server_id', parameters: [] }, 'writer'))[0] ?? [];
    const cell = newCell();
    await promote(cell, others());
    instead = (group, _statement, run) =>
      group === primary ? run() : Promise.reject(new SqlError('unreachable', 'down'));
    await expect(recover()).rejects.toThrow('down');
    // The server of the old id, as whoever made it anew would find the record.
    const [row] = await writer().select(
      {
        sql: 'SELECT COUNT(*) FROM schemaless.shard WHERE datastore = ? AND writer_id IN (?, ?)',
        parameters: [store.nameOf('trips'), ANOTHER_SERVER, Number(serverId)],
      },
      'writer',
    );
    expect(Number(row?.[0])).toBe(0);
    instead = (_group, _statement, run) => run();
    await recover();
    expect(await bodyOf(cell)).toBe('acknowledged');
  });

  it('costs its own shard its opening, and no other one, where no connection is free for it', async () => {
    const cell = newCell();
    await promote(cell, others());
    instead = (group, { sql, parameters }, run) =>
      group !== primary && sql.includes('SELECT page.id') && parameters[1] === 0
        ? Promise.reject(new SqlError('unreachable', 'no connection free', { poolExhausted: true }))
        : run();
    expect(await recover()).toMatchObject({ opened: 1, closed: [{ shard: 0, reason: 'no connection free' }] });
    instead = (_group, _statement, run) => run();
    expect(await recover()).toMatchObject({ opened: 1 });
  });
});

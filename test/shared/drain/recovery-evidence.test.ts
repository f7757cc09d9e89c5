import { afterEach, describe, expect, it } from 'vitest';
import { recoverPrimary } from '../../../shared/drain/recover-primary.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { SqlError, type SqlClient, type Statement } from '../../../shared/sql/client.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { writeGroups } from '../../../shared/topology/dynamo-topology.ts';
import { copyOf } from '../../support/copy-of.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { select } from '../../support/plain-sql.ts';
import { ANOTHER_SERVER, promote } from './support/promotion.ts';

const SHARDS = 6;
type Instead = (group: string, statement: Statement, run: () => Promise<never>) => Promise<never>;
const nothingInstead: Instead = (_group, _statement, run) => run();
let instead = nothingInstead;

const opened = await sharedTrips(SHARDS, {
  wrap: (client, group): SqlClient => ({
    ...client,
    select: (statement, target) => instead(group, statement, () => client.select(statement, target) as Promise<never>),
  }),
});
const { store, trips, name, primary, others, clientOf, cellIn } = opened;
afterEach(() => {
  instead = nothingInstead;
});
const bodyOf = async (cell: NewCell) => (await trips.get(cell)).cell?.body;
const recover = () => recoverPrimary(store.context, primary);

async function promoteWith(cell: NewCell, holders: readonly string[] = others): Promise<void> {
  for (const group of holders) await store.client(group).change(insertBuffered(name, [copyOf(cell)]));
  await promote(opened);
}
/** As after the promotion of a reader that lacks a new cell, of which only the copies on these groups know. */
async function promoteLacking(holders?: readonly string[]): Promise<NewCell> {
  const cell = cellIn(0, { body: 'acknowledged' });
  await promoteWith(cell, holders);
  return cell;
}
const recoveredBody = async (cell: NewCell) => (await recover(), bodyOf(cell));

describe('a promoted writer that lacks a cell', () => {
  it('gets it from a group that was added a moment ago, which no cache knows', async () => {
    const [added = '', known = ''] = others;
    const table = store.topologyTable;
    const all = await store.topology.groups();
    await writeGroups(
      table,
      all.filter(({ name }) => name !== added),
    );
    store.topology.refresh();
    expect((await store.topology.groups()).map(({ name }) => name)).toContain(known);
    await writeGroups(table, all);
    const cell = await promoteLacking([added]);
    // A first look may find the new group without knowing yet how it is reached: then nothing is opened.
    await expect
      .poll(() =>
        recover().then(
          (recovery) => recovery?.opened,
          () => 0,
        ),
      )
      .toBe(2);
    expect(await bodyOf(cell)).toBe('acknowledged');
  });

  it('stays closed while the topology does not say which groups there are', async () => {
    const cell = await promoteLacking();
    const all = await store.topology.groups();
    await writeGroups(store.topologyTable, []);
    await expect(recover()).rejects.toMatchObject({ code: 'unavailable' });
    await writeGroups(store.topologyTable, all);
    expect(await recoveredBody(cell)).toBe('acknowledged');
  });

  it('gets it from another group where the first has lost its copy meanwhile', async () => {
    const cell = await promoteLacking();
    const [first] = others;
    // Gone between the look at what is there and the look at its body.
    instead = (group, { sql }, run) =>
      group === first && sql.includes(', body, created_at') ? (Promise.resolve([]) as Promise<never>) : run();
    expect(await recoveredBody(cell)).toBe('acknowledged');
  });

  it('is not opened by what another server shows', async () => {
    const cell = cellIn(0, { body: 'acknowledged' });
    expect((await trips.put(cell)).outcome).toBe('stored');
    await promoteWith(cell);
    instead = async (group, { sql }, run) => {
      const rows: readonly (readonly unknown[])[] = await run();
      return (
        group === primary && sql.startsWith('SELECT -1 AS list')
          ? rows.map(([list, value, ...address]) => [list, Number(list) < 0 ? Buffer.from('77') : value, ...address])
          : rows
      ) as never;
    };
    expect(await recover()).toMatchObject({ opened: 1, closed: [{ shard: 0 }] });
    instead = nothingInstead;
    expect(await recover()).toMatchObject({ opened: 1 });
  });

  it('is not opened by the word of a group that takes no writes itself: it may lack copies', async () => {
    const cell = await promoteLacking();
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
    instead = nothingInstead;
    expect(await recoveredBody(cell)).toBe('acknowledged');
  });

  it('stays closed where a copy is gone from everywhere as it is fetched: nobody knows yet why', async () => {
    const cell = await promoteLacking();
    instead = (_group, { sql }, run) =>
      sql.includes(', body, created_at') ? (Promise.resolve([]) as Promise<never>) : run();
    expect(await recover()).toMatchObject({ closed: [{ shard: 0 }] });
    instead = nothingInstead;
    expect(await recoveredBody(cell)).toBe('acknowledged');
  });

  it('is not taken for the writer that it is not, when a server is made anew under the old id', async () => {
    const [serverId] = (await select(clientOf(0), 'SELECT @@server_id'))[0] ?? [];
    const cell = await promoteLacking();
    instead = (group, _statement, run) =>
      group === primary ? run() : Promise.reject(new SqlError('unreachable', 'down'));
    await expect(recover()).rejects.toThrow('down');
    // The server of the old id, as whoever made it anew would find the record.
    const counting = 'SELECT COUNT(*) FROM schemaless.shard WHERE datastore = ? AND writer_id IN (?, ?)';
    const [row] = await select(clientOf(0), counting, name, ANOTHER_SERVER, Number(serverId));
    expect(Number(row?.[0])).toBe(0);
    instead = nothingInstead;
    expect(await recoveredBody(cell)).toBe('acknowledged');
  });

  it('costs its own shard its opening, and no other one, where no connection is free for it', async () => {
    await promoteLacking();
    instead = (group, { sql, parameters }, run) =>
      group !== primary && sql.includes('SELECT page.id') && parameters[1] === 0
        ? Promise.reject(new SqlError('unreachable', 'no connection free', { poolExhausted: true }))
        : run();
    expect(await recover()).toMatchObject({ opened: 1, closed: [{ shard: 0, reason: 'no connection free' }] });
    instead = nothingInstead;
    expect(await recover()).toMatchObject({ opened: 1 });
  });
});

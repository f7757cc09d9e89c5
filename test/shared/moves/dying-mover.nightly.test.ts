import { expect, it } from 'vitest';
import { cellOf } from '../../support/datastore-conformance.ts';
import { drainAtOnce } from '../../support/drain-pass.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { moveDying } from './dying-mover.ts';
import { openMover } from './support.ts';

const { store, trips, rowIn } = await sharedTrips(3);

it('a mover that dies at any statement of a switch leaves a shard that another one moves, with all its cells', async () => {
  await using mover = await openMover(store, 'trips');
  const written = new Set<string>();
  const put = async () => {
    const cell = cellOf({ row_key: rowIn(2), column_name: 'BASE', ref_key: 1 });
    expect(['stored', 'buffered']).toContain((await trips.put(cell)).outcome);
    written.add(cell.row_key);
    return cell;
  };
  let statement = 1;
  while (await moveDying(store, mover, { shard: 2, statement, put })) statement += 1;
  expect(statement).toBeGreaterThan(6);
  for (const group of store.groups) await drainAtOnce(store.context, group.name);
  for (const row_key of written)
    expect((await trips.get({ row_key, column_name: 'BASE', ref_key: 1 })).cell).not.toBeNull();
  expect((await trips.heads())[2]).toMatchObject({ group: (await mover.home(2)).group });
}, 600_000);

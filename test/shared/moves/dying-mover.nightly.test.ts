import { expect, it } from 'vitest';
import { sharedTrips } from '../../support/open-trips.ts';
import { moveDying } from './dying-mover.ts';
import { openMover } from './support.ts';

const opened = await sharedTrips(3);

it('a mover that dies at any statement of a switch leaves a shard that another one moves, with all its cells', async () => {
  await using mover = await openMover(opened.store, 'trips');
  let statement = 1;
  while (await moveDying(opened, mover, statement)) statement += 1;
  expect(statement).toBeGreaterThan(6);
}, 600_000);

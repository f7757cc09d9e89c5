import { expect, it } from 'vitest';
import type { AppendedLog } from '../../../shared/sql/client.ts';
import { forgetEnds, numberCells } from '../../../shared/sql/statements/number-cells.ts';

const log = (datastore: string, shard: number): AppendedLog => ({ datastore, shard, epoch: 1 });

it.each([
  ['numbers', numberCells],
  ['forgets the ends of', forgetEnds],
])('a transaction that %s logs of several datastores locks them in one order, whichever tables come first', (_, of) => {
  // By the names of their tables: trips_0003 < trips_10_0001 < trips_4000.
  const datastores = (logs: readonly AppendedLog[]): readonly unknown[] =>
    of(logs).map(({ parameters }) => parameters.find((value) => typeof value === 'string'));
  expect(datastores([log('trips', 3), log('trips_10', 1)])).toEqual(['trips', 'trips_10']);
  expect(datastores([log('trips_10', 1), log('trips', 4000)])).toEqual(['trips', 'trips_10']);
});

import { expect, it } from 'vitest';
import { SchemalessError } from '../../../shared/errors.ts';
import type { Found } from '../../../shared/contract/datastore.ts';
import { SqlError } from '../../../shared/sql/client.ts';
import { whereShardsAre } from '../../../shared/store/deployment.ts';
import type { TopologySource } from '../../../shared/topology/topology.ts';

const NO_SUCH_TABLE = 1146;
const FOUND: Found = { cell: null, served_by: 'writer', stale: false };

it('look-ups of a shard that was moved wait for no slow group, and read its group before they retry', async () => {
  const done: string[] = [];
  const slow = Promise.withResolvers<void>();
  let isKnown = false;
  const gone = (): SchemalessError =>
    new SchemalessError('unavailable', 'refused', {
      cause: new SqlError('rejected', 'no table', { errno: NO_SUCH_TABLE }),
    });
  const topology = {
    refresh: () => {
      isKnown = true;
      done.push('refreshed');
    },
  } as unknown as TopologySource;
  const reads = {
    async getLatest({ column_name }: { readonly column_name: string }) {
      done.push(`looked again for ${column_name}`);
      if (!isKnown) throw gone();
      return FOUND;
    },
    async findEach(
      keys: readonly { readonly column_name: string }[],
      _options: object,
      tell: (position: number, found: object) => void,
    ) {
      const answer = async (position: number, column: string): Promise<void> => {
        if (column === 'SLOW') await slow.promise;
        tell(position, column === 'MOVED' ? { error: gone() } : FOUND);
      };
      await Promise.all(keys.map(({ column_name }, position) => answer(position, column_name)));
    },
  } as unknown as Parameters<typeof whereShardsAre>[1];
  const columns = ['QUICK', 'MOVED', 'SLOW'];
  await whereShardsAre(topology, reads).findEach(
    columns.map((column_name) => ({ row_key: '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0', column_name })),
    {},
    (position, found) => {
      done.push(`${columns[position]} ${'error' in found ? 'failed' : 'told'}`);
      if (columns[position] === 'MOVED') slow.resolve();
    },
  );
  expect(done).toEqual(['QUICK told', 'refreshed', 'looked again for MOVED', 'MOVED told', 'SLOW told']);
});

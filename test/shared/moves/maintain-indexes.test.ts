import { expect, it } from 'vitest';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { maintainIndexes } from '../../../shared/moves/maintain-indexes.ts';
import { newMove } from '../../../shared/moves/move-item.ts';

it('a copy owes nothing of an index that is gone: else it would never be dropped', async () => {
  const nobody = {} as SqlClient;
  const move = newMove({
    datastore: 'trips',
    shard: 233,
    id: 'one',
    from: 'group-4',
    to: 'group-1',
    created_at: '2026-01-31T08:00:00Z',
    switchesAlone: false,
    complete_after_seconds: null,
  });
  const kept = await maintainIndexes(
    { ...move, owed: ['by_city_1a2b3c4d'] },
    { clients: { source: nobody, target: nobody }, indexes: [], isWanted: false, signal: new AbortController().signal },
  );
  expect(kept.owed).toEqual([]);
});

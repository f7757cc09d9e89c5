import { SchemalessError } from '../errors.ts';
import type { SqlClient } from '../sql/client.ts';
import type { WaitingRow } from '../sql/statements/select-buffered.ts';
import { selectShard, toShardRow } from '../sql/statements/select-shard.ts';

/** Throws `unavailable` for a shard being brought back: its hints, marked as shown, would contradict stored cells. */
export async function requireWriter(client: SqlClient, [row]: readonly WaitingRow[]): Promise<void> {
  if (!row) return;
  const { datastore, shard } = row;
  const found = toShardRow(await client.select(selectShard(datastore, shard), 'writer'));
  if (found?.hasWriter !== false) return;
  throw new SchemalessError('unavailable', `shard ${shard} of ${datastore} is being brought back from the buffers`);
}

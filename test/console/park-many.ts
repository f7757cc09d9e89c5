import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { LocalStack } from '../../infra/local/running/running-stack.ts';
import type { SchemalessClient } from '../../shared/client/client.ts';
import { afterAttempt, parkedCell } from '../../shared/triggers/state/failing-cells.ts';
import { troubledShards } from '../../shared/triggers/state/troubled-shards.ts';

const REASONS = ['The message service does not answer', 'The device is not registered', 'No text in the language of'];

/**
 * Parks every cell of a column as a consumer does, but a shard at a time: at some 25 failures a second on a busy machine
 * 10,000 of them take seven minutes. The trigger is to be paused.
 */
export async function parkMany(
  stack: LocalStack,
  store: SchemalessClient,
  trigger: string,
  column: string,
): Promise<void> {
  const table = stack.endpoints.tables.find((name) => /state/iu.test(name));
  if (table === undefined) throw new Error(`wanted the table of state, got ${stack.endpoints.tables.join(', ')}`);
  const { name: datastore } = store;
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new DynamoDBClient({ endpoint: stack.endpoints.dynamodb, region: 'us-east-1', credentials });
  const state = troubledShards({ client, table }, { datastore, trigger });
  for (const { shard } of await store.heads()) {
    const cells = await cellsOf(store, shard, column);
    await state.change(shard, (before) => {
      const parked = cells.map((cell) => {
        const message = { ...cell, datastore, trigger, replay: false, generation: 0 };
        const error = `${REASONS[cell.ref_key % REASONS.length]} ${cell.row_key}, ${cell.ref_key}`;
        return parkedCell(afterAttempt(undefined, message, 1, error));
      });
      return { result: undefined, next: { ...before, cells: parked } };
    });
  }
}

interface Placed {
  readonly row_key: string;
  readonly column_name: string;
  readonly ref_key: number;
  readonly shard: number;
  readonly added_id: number;
  readonly created_at: string;
}

async function cellsOf(client: SchemalessClient, shard: number, column: string): Promise<readonly Placed[]> {
  const found: Placed[] = [];
  for (let after = 0; ;) {
    const [log] = await client.log([{ shard, after }], { limit: 1000 });
    if (!log || !('cells' in log)) throw new Error(`shard ${shard} cannot be read`);
    for (const { row_key, column_name, ref_key, added_id, created_at } of log.cells)
      if (column_name === column) found.push({ row_key, column_name, ref_key, shard, added_id, created_at });
    if (!log.more) return found;
    after = log.next;
  }
}

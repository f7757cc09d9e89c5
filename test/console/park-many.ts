import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { LocalStack } from '../../infra/local/running/running-stack.ts';
import { awsLogin } from '../../infra/local/login/aws-login.ts';
import type { SchemalessClient } from '../../shared/client/client.ts';
import { tail } from '../../shared/client/tail.ts';
import { afterAttempt, parkedCell } from '../../shared/triggers/state/failing-cells.ts';
import { troubledShards } from '../../shared/triggers/state/troubled-shards.ts';

const REASONS = ['The message service does not answer', 'The device is not registered', 'No text in the language of'];

/**
 * Parks every cell of a column as a consumer does, but a shard at a time. A consumer takes seven minutes for 10,000, at
 * some 25 failures a second on a busy machine. The trigger must be paused.
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
  const client = new DynamoDBClient({ endpoint: stack.endpoints.dynamodb, ...awsLogin() });
  const state = troubledShards({ client, table }, { datastore, trigger });
  const found = await Array.fromAsync(tail(store, { from: 'start', follow: false, limit: 1000 }), ({ cell }) => cell);
  const meant = found.filter(({ column_name }) => column_name === column);
  for (const [shard, cells] of Map.groupBy(meant, (cell) => cell.shard))
    await state.change(shard, (before) => {
      const parked = cells.map(({ row_key, column_name, ref_key, added_id, created_at }) => {
        const place = { row_key, column_name, ref_key, shard, added_id, created_at };
        const message = { ...place, datastore, trigger, replay: false, generation: 0 };
        const error = `${REASONS[ref_key % REASONS.length]} ${row_key}, ${ref_key}`;
        return parkedCell(afterAttempt(undefined, message, 1, error));
      });
      return { result: undefined, next: { ...before, cells: parked } };
    });
}

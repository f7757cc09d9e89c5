import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { awsLogin } from '../login/aws-login.ts';
import type { LocalStack } from '../running/running-stack.ts';
import type { Snapshot } from './snapshot.ts';
import { readItems } from './table-items.ts';

/** The end of the keys table's logical id: an environment may be named `keys`. */
const KEYS_TABLE = /keys[0-9A-F]{8}$/u;

export async function takeSnapshot({ groups, endpoints }: Pick<LocalStack, 'groups' | 'endpoints'>): Promise<Snapshot> {
  const taken_at = new Date().toISOString();
  const positions = await groups.positions();
  const client = new DynamoDBClient({ endpoint: endpoints.dynamodb, ...awsLogin() });
  try {
    // Keys stay as they are: a forgotten key must not return.
    const setBack = endpoints.tables.filter((table) => !KEYS_TABLE.test(table));
    const tables = await Promise.all(setBack.map(async (table) => [table, await readItems(client, table)] as const));
    return {
      taken_at,
      engine: groups.engine.kind,
      groups: Object.fromEntries(positions),
      tables: Object.fromEntries(tables),
    };
  } finally {
    client.destroy();
  }
}

/** `node infra/restore/copy-items.ts FROM TO`: makes a table's items those of another; no other writer may run. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { allItems } from '../../shared/dynamo/table.ts';
import { replaceItems } from '../local/snapshots/snapshot.ts';

const [from, to] = process.argv.slice(2);
if (from === undefined || to === undefined)
  throw new Error(`tables: wanted FROM and TO, got ${process.argv.slice(2).join(' ')}`);
const client = new DynamoDBClient();
const items = await allItems({ client, table: from });
await replaceItems(client, to, items);
process.stdout.write(`${to}: ${items.length} items of ${from}\n`);

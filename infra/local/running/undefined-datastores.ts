import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { readApplied } from '../../../shared/topology/applied-definitions.ts';
import { awsLogin } from '../login/aws-login.ts';
import { createdDatastores } from './created-datastores.ts';

/** A datastore that is there and that no folder defines. */
export interface UndefinedDatastore {
  readonly name: string;
  readonly shards: number;
}

/**
 * The datastores of the topology whose definitions are gone. Their data is kept and served: a folder that was moved, or
 * that a branch does not have, is no wish to lose what is in it. Those that were made through the API are defined there.
 *
 * @param tables of the stack, by name
 */
export async function undefinedDatastores(
  tables: readonly string[],
  dynamodbUrl: string,
  defined: ReadonlySet<string>,
): Promise<readonly UndefinedDatastore[]> {
  const table = tables.find((name) => name.includes('topology'));
  if (table === undefined) return [];
  const client = new DynamoDBClient({ endpoint: dynamodbUrl, ...awsLogin() });
  try {
    const applied = (await readApplied({ client, table })).filter(({ shards }) => shards !== undefined);
    const known = new Set([...defined, ...applied.map(({ name }) => name)]);
    const created = await createdDatastores(tables, dynamodbUrl);
    return [...created].filter(([name]) => !known.has(name)).map(([name, shards]) => ({ name, shards }));
  } finally {
    client.destroy();
  }
}

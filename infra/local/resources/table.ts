import type { CreateTableInput, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { localArn, type ResourceAddress } from '../template/template.ts';
import { physicalName, type Context, type ResourceKind } from './resource-kind.ts';

export const TABLE: ResourceKind = {
  ref: tableName,
  attribute: (address, name, context) => (name === 'Arn' ? localArn('dynamodb', `table/${tableName(address, context)}`) : undefined),
};

/** Makes the tables that are not there yet, as retained tables are found again by the next deployment. */
export async function createTables(resources: readonly ResourceAddress[], context: Context, endpoint: string): Promise<void> {
  const tables = resources.filter(({ resource }) => resource.Type === 'AWS::DynamoDB::Table');
  if (tables.length === 0) return;
  const { DynamoDBClient } = await import('@aws-sdk/client-dynamodb');
  const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } });
  try {
    await Promise.all(tables.map((table) => createTable(client, table, context)));
  } finally {
    client.destroy();
  }
}

async function createTable(client: DynamoDBClient, address: ResourceAddress, context: Context): Promise<void> {
  const { CreateTableCommand, ResourceInUseException } = await import('@aws-sdk/client-dynamodb');
  const property = <T>(name: string): T | undefined => context.property(address, name) as T | undefined;
  const input: CreateTableInput = {
    TableName: tableName(address, context),
    KeySchema: property<CreateTableInput['KeySchema']>('KeySchema'),
    AttributeDefinitions: property<CreateTableInput['AttributeDefinitions']>('AttributeDefinitions'),
    BillingMode: 'PAY_PER_REQUEST',
  };
  try {
    await client.send(new CreateTableCommand(input));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
}

function tableName(address: ResourceAddress, context: Context): string {
  const name = context.property(address, 'TableName');
  return typeof name === 'string' ? name : physicalName(address);
}

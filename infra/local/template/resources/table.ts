import {
  CreateTableCommand,
  ResourceInUseException,
  waitUntilTableExists,
  type CreateTableInput,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { dynamoClient } from '../../login/clients.ts';
import { localArn } from '../../arn.ts';
import { type ResourceAddress, ofType } from '../template.ts';
import { physicalName, type Context, type ResourceKind } from './resource-kind.ts';

/** Outside emulators take longer. */
const MADE_SECONDS = 60;

export const TABLE: ResourceKind = {
  ref: tableName,
  attribute: (address, name, context) =>
    name === 'Arn' ? localArn('dynamodb', `table/${tableName(address, context)}`) : undefined,
};

export function tableNames(resources: readonly ResourceAddress[], context: Context): readonly string[] {
  return ofType(resources, 'AWS::DynamoDB::Table').map((address) => tableName(address, context));
}

/** Makes the missing tables, as a deployment finds retained ones. */
export async function createTables(
  resources: readonly ResourceAddress[],
  context: Context,
  endpoint: string,
): Promise<void> {
  const tables = ofType(resources, 'AWS::DynamoDB::Table');
  if (tables.length === 0) return;
  using client = dynamoClient(endpoint);
  await Promise.all(tables.map((table) => createTable(client, table, context)));
}

async function createTable(client: DynamoDBClient, address: ResourceAddress, context: Context): Promise<void> {
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
  await waitUntilTableExists(
    { client, maxWaitTime: MADE_SECONDS, minDelay: 0.05, maxDelay: 1 },
    { TableName: input.TableName },
  );
}

function tableName(address: ResourceAddress, context: Context): string {
  const name = context.property(address, 'TableName');
  return typeof name === 'string' ? name : `${physicalName(address)}${context.world.tableSuffix ?? ''}`;
}

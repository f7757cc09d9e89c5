import {
  BatchGetItemCommand,
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { CreateQueueCommand, ReceiveMessageCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessKeyOf } from '../../../../infra/local/iam/access-key.ts';
import type { RightsByKey } from '../../../../infra/local/iam/rights.ts';
import type { WrittenStatement } from '../../../../infra/local/iam/statement.ts';
import { startSecretsManager } from '../../../../infra/local/emulators/secrets-manager.ts';
import { startService } from '../../../../infra/local/emulators/start-service.ts';
import { localArn } from '../../../../infra/local/template/template.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const parts = new AsyncDisposableStack();
const folder = parts.use(temporaryFolder());
const refused: string[] = [];
const login = (accessKeyId: string) => ({
  region: 'us-east-1',
  maxAttempts: 1,
  credentials: { accessKeyId, secretAccessKey: 'local' },
});
const rights = (...statements: readonly WrittenStatement[]): RightsByKey => ({
  [accessKeyOf('fn')]: { name: 'fn', role: 'role', statements },
});
const allow = (Action: string | string[], Resource: string, rest: object = {}): WrittenStatement => ({
  Effect: 'Allow',
  Action,
  Resource,
  ...rest,
});
const DENIED = expect.objectContaining({ name: 'AccessDeniedException' });
afterAll(() => parts.disposeAsync());

describe('DynamoDB', async () => {
  const service = parts.adopt(await startService('dynamodb', folder.path, (why) => refused.push(why)), (one) =>
    one.close(),
  );
  const owner = new DynamoDBClient({ endpoint: service.url, ...login('local') });
  const client = new DynamoDBClient({ endpoint: service.url, ...login(accessKeyOf('fn')) });
  const key = (pk: string) => ({ TableName: 'state', Key: { pk: { S: pk } } });
  const table = localArn('dynamodb', 'table/state');
  const ofLeases = { Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['lease#*'] } } };

  beforeAll(async () => {
    await owner.send(
      new CreateTableCommand({
        TableName: 'state',
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        BillingMode: 'PAY_PER_REQUEST',
      }),
    );
    await waitUntilTableExists({ client: owner, maxWaitTime: 10, minDelay: 0.05 }, { TableName: 'state' });
    await service.setRights(
      rights(
        allow(
          ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
          table,
          ofLeases,
        ),
      ),
    );
  });
  afterAll(() => {
    owner.destroy();
    client.destroy();
  });

  it('lets a function do what its role may, and its owner everything', async () => {
    const item = { TableName: 'state', Item: { pk: { S: 'lease#a' }, n: { N: '1' } } };
    await client.send(new PutItemCommand(item));
    expect(await client.send(new GetItemCommand(key('lease#a')))).toMatchObject({ Item: item.Item });
    expect((await owner.send(new ScanCommand({ TableName: 'state' }))).Items).toHaveLength(1);
  });

  it('refuses another item, action or table, and changes nothing', async () => {
    const other = { TableName: 'state', Item: { pk: { S: 'trigger#a' } } };
    await expect(client.send(new PutItemCommand(other))).rejects.toEqual(DENIED);
    await expect(client.send(new GetItemCommand({ ...key('lease#a'), TableName: 'other' }))).rejects.toEqual(DENIED);
    await expect(client.send(new ScanCommand({ TableName: 'state' }))).rejects.toEqual(DENIED);
    expect((await owner.send(new GetItemCommand(key('trigger#a')))).Item).toBeUndefined();
    expect(refused.at(-1)).toContain('is not authorized to perform: dynamodb:Scan');
  });

  it('looks at each item of a batch and of a transaction', async () => {
    const batch = (...keys: readonly string[]) =>
      new BatchGetItemCommand({ RequestItems: { state: { Keys: keys.map((pk) => ({ pk: { S: pk } })) } } });
    expect((await client.send(batch('lease#a', 'lease#b'))).Responses).toMatchObject({
      state: [{ pk: { S: 'lease#a' } }],
    });
    await expect(client.send(batch('lease#a', 'trigger#a'))).rejects.toEqual(DENIED);
    const put = (pk: string) => ({ Put: { TableName: 'state', Item: { pk: { S: pk } } } });
    await expect(
      client.send(new TransactWriteItemsCommand({ TransactItems: [put('lease#c'), put('trigger#c')] })),
    ).rejects.toEqual(DENIED);
  });

  it('judges by the last rights, after it was away, too', async () => {
    await service.kill();
    await service.resume();
    await expect(client.send(new ScanCommand({ TableName: 'state' }))).rejects.toEqual(DENIED);
    await service.setRights(rights(allow('dynamodb:Scan', table)));
    expect((await client.send(new ScanCommand({ TableName: 'state' }))).Items).toHaveLength(1);
    await expect(client.send(new GetItemCommand(key('lease#a')))).rejects.toEqual(DENIED);
  });

  it('says why it cannot judge a policy, and keeps the rights before', async () => {
    const strange = rights({ Effect: 'Allow', NotAction: 'dynamodb:Scan', Resource: '*' } as WrittenStatement);
    await expect(service.setRights(strange)).rejects.toThrow('role: a statement: wanted Sid, Effect');
    expect((await client.send(new ScanCommand({ TableName: 'state' }))).Items).toHaveLength(1);
  });
});

describe('SQS', async () => {
  const own = parts.use(temporaryFolder());
  const service = parts.adopt(await startService('sqs', own.path), (one) => one.close());
  const client = new SQSClient({ endpoint: service.url, ...login(accessKeyOf('fn')) });
  const owner = new SQSClient({ endpoint: service.url, ...login('local') });
  afterAll(() => {
    owner.destroy();
    client.destroy();
  });

  it('takes a batch as the sending of its messages, and gives none to who may not receive', async () => {
    const { QueueUrl } = await owner.send(new CreateQueueCommand({ QueueName: 'cells' }));
    await service.setRights(rights(allow('sqs:SendMessage', localArn('sqs', 'cells'))));
    const entries = { QueueUrl, Entries: [{ Id: 'a', MessageBody: 'one {"QueueUrl": "other"}' }] };
    expect(await client.send(new SendMessageBatchCommand(entries))).toMatchObject({ Successful: [{ Id: 'a' }] });
    await expect(client.send(new ReceiveMessageCommand({ QueueUrl }))).rejects.toMatchObject({ name: 'AccessDenied' });
    await expect(client.send(new CreateQueueCommand({ QueueName: 'more' }))).rejects.toMatchObject({
      name: 'AccessDenied',
    });
    expect((await owner.send(new ReceiveMessageCommand({ QueueUrl }))).Messages).toHaveLength(1);
  });
});

it('Secrets Manager gives a function no secret but those of its role', async () => {
  const server = parts.adopt(await startSecretsManager(), (one) => one.close());
  const client = new SecretsManagerClient({ endpoint: server.url, ...login(accessKeyOf('fn')) });
  const arn = (name: string): string => localArn('secretsmanager', `secret:${name}`);
  server.setSecrets(
    new Map([
      [arn('read'), 'one'],
      [arn('owner'), 'two'],
    ]),
  );
  await server.setRights(rights(allow('secretsmanager:GetSecretValue', arn('read'))));
  expect(await client.send(new GetSecretValueCommand({ SecretId: 'read' }))).toMatchObject({ SecretString: 'one' });
  await expect(client.send(new GetSecretValueCommand({ SecretId: arn('owner') }))).rejects.toEqual(DENIED);
  client.destroy();
});

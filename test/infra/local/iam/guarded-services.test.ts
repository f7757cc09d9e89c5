import {
  BatchGetItemCommand,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { CreateQueueCommand, ReceiveMessageCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessKeyOf } from '../../../../infra/local/iam/access-key.ts';
import type { RightsByKey } from '../../../../infra/local/iam/rights.ts';
import type { WrittenStatement } from '../../../../infra/local/iam/statement.ts';
import { startSecretsManager } from '../../../../infra/local/emulators/secrets-manager.ts';
import { startService } from '../../../../infra/local/emulators/start-service.ts';
import { localArn } from '../../../../infra/local/arn.ts';
import { dynamoAt, loginOf, makeTable } from '../emulators/emulated-table.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const parts = new AsyncDisposableStack();
const folder = parts.use(temporaryFolder());
const refused: string[] = [];
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
  const [owner, client] = [dynamoAt(service.url), dynamoAt(service.url, accessKeyOf('fn'))];
  const key = (pk: string) => ({ TableName: 'state', Key: { pk: { S: pk } } });
  const table = localArn('dynamodb', 'table/state');
  const ofLeases = { Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['lease#*'] } } };

  beforeAll(async () => {
    await makeTable(owner);
    const actions = ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'].map((action) => `dynamodb:${action}`);
    await service.setRights(rights(allow(actions, table, ofLeases)));
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
  const client = new SQSClient({ endpoint: service.url, ...loginOf(accessKeyOf('fn')) });
  const owner = new SQSClient({ endpoint: service.url, ...loginOf() });
  afterAll(() => {
    owner.destroy();
    client.destroy();
  });

  it('judges a batch as the sending of its messages, and gives none to callers that may not receive', async () => {
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

it('Secrets Manager gives secrets by ARN and by name, and a function none but those of its role', async () => {
  const server = parts.adopt(await startSecretsManager(), (one) => one.close());
  const [owner, client] = ['local', accessKeyOf('fn')].map((key) =>
    parts.adopt(new SecretsManagerClient({ endpoint: server.url, ...loginOf(key) }), (one) => one.destroy()),
  ) as [SecretsManagerClient, SecretsManagerClient];
  const arn = (name: string): string => localArn('secretsmanager', `secret:${name}`);
  const get = (SecretId: string) => new GetSecretValueCommand({ SecretId });
  server.setSecrets(new Map(['read', 'login'].map((name) => [arn(name), `of ${name}`])));
  const found = { ARN: arn('login'), Name: 'login', SecretString: 'of login' };
  for (const id of ['login', arn('login')]) expect(await owner.send(get(id))).toMatchObject(found);
  await expect(owner.send(get('log'))).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  const put = new PutSecretValueCommand({ SecretId: 'login', SecretString: '' });
  await expect(owner.send(put)).rejects.toMatchObject({ name: 'InvalidRequestException' });
  await server.setRights(rights(allow('secretsmanager:GetSecretValue', arn('read'))));
  expect(await client.send(get('read'))).toMatchObject({ SecretString: 'of read' });
  await expect(client.send(get(arn('login')))).rejects.toEqual(DENIED);
});

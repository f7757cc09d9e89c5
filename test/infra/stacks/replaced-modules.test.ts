import { createServer, type ServerResponse } from 'node:http';
import { Sha256 } from '@aws-crypto/sha256-js';
import { Signer } from '@aws-sdk/rds-signer';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { BUNDLING } from '../../../infra/stacks/bundles.ts';
import { runBundler } from '../../../infra/stacks/run-bundler.ts';
import * as dynamodb from '../../../infra/stacks/bundled/dynamodb.ts';
import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '../../../infra/stacks/bundled/secrets-manager.ts';
import { SQSClient } from '../../../infra/stacks/bundled/sqs.ts';
import { signedHeaders } from '../../../infra/stacks/bundled/sign.ts';
import { Signer as BundledSigner } from '../../../infra/stacks/bundled/rds-signer.ts';
import { newTable, startDynamo, dynamoClient, type LocalDynamo } from '../../support/dynamo.ts';
import { listen } from '../../support/listen.ts';

const LOGIN = { region: 'us-east-1', credentials: { accessKeyId: 'AKIA', secretAccessKey: 'secret' } };

describe('signatures', () => {
  const CREDENTIALS = fc.record(
    {
      accessKeyId: fc.stringMatching(/^[A-Z0-9]{4,20}$/u),
      secretAccessKey: fc.string({ minLength: 1 }),
      sessionToken: fc.stringMatching(/^[A-Za-z0-9+/=]{1,60}$/u),
    },
    { requiredKeys: ['accessKeyId', 'secretAccessKey'] },
  );
  const TIME = fc.date({ min: new Date('2020-01-01'), max: new Date('2090-01-01'), noInvalidDate: true });

  it("of requests are the SDK's", async () => {
    const requests = fc.asyncProperty(
      CREDENTIALS,
      TIME,
      fc.string({ unit: 'binary' }),
      fc.constantFrom('dynamodb', 'secretsmanager'),
      async (credentials, at, body, service) => {
        const headers = { host: 'dynamodb.eu-west-1.amazonaws.com', 'content-type': 'x', 'x-amz-target': 'X.Y' };
        const signing = { service, region: 'eu-west-1', credentials: async () => credentials };
        const signer = new SignatureV4({ ...signing, sha256: Sha256, applyChecksum: false });
        const { headers: wanted } = await signer.sign(
          { method: 'POST', protocol: 'https:', hostname: headers.host, path: '/', headers, body },
          { signingDate: at },
        );
        expect(await signedHeaders({ ...signing, at }, headers, body)).toEqual(wanted);
      },
    );
    await fc.assert(requests, { numRuns: 300 });
  });

  it("of logins are the SDK's", async () => {
    const logins = fc.asyncProperty(
      CREDENTIALS,
      fc.stringMatching(/^[a-z_*' ]{1,20}$/u),
      async (credentials, username) => {
        const login = {
          hostname: 'h.example',
          port: 3306,
          username,
          region: 'eu-west-1',
          credentials: async () => credentials,
        };
        // They differ where a second ends between them.
        const tokens = async () => [
          await new BundledSigner(login).getAuthToken(),
          await new Signer(login).getAuthToken(),
        ];
        const [first, second] = await tokens();
        const [ours, theirs] = first === second ? [first, second] : await tokens();
        expect(sorted(ours)).toEqual(sorted(theirs));
      },
    );
    await fc.assert(logins, { numRuns: 50 });
  });

  function sorted(token = ''): readonly string[] {
    const [address = '', query = ''] = token.split('?');
    return [address, ...query.split('&').toSorted()];
  }
});

describe('the client of DynamoDB', () => {
  let dynamo: LocalDynamo;
  let client: dynamodb.DynamoDBClient;
  let table: string;
  beforeAll(async () => {
    dynamo = await startDynamo();
    ({ table } = await newTable(dynamoClient(dynamo.url)));
    client = new dynamodb.DynamoDBClient({ endpoint: dynamo.url, ...LOGIN });
  });
  afterAll(async () => {
    client.destroy();
    await dynamo.stop();
  });

  const ITEM = {
    pk: { S: 'a' },
    bytes: { B: Uint8Array.from({ length: 256 }, (_, byte) => byte) },
    B: { S: 'a name' },
    nested: { M: { B: { L: [{ N: '1' }, { BOOL: true }, { NULL: true }, { B: Buffer.from('x') }] } } },
    text: { S: 'é \u{1f389} "' },
  };

  it('reads what it wrote, bytes too', async () => {
    await client.send(new dynamodb.PutItemCommand({ TableName: table, Item: ITEM }));
    const read = { TableName: table, Key: { pk: { S: 'a' } }, ConsistentRead: true };
    expect(await client.send(new dynamodb.GetItemCommand(read))).toEqual({
      Item: { ...ITEM, bytes: { B: Buffer.from(ITEM.bytes.B) } },
    });
    expect(await client.send(new dynamodb.GetItemCommand({ ...read, Key: { pk: { S: 'none' } } }))).toEqual({});
  });

  it('tells a condition that did not hold by its class', async () => {
    const put = {
      TableName: table,
      Item: ITEM,
      ConditionExpression: 'attribute_exists(#none)',
      ExpressionAttributeNames: { '#none': 'none' },
    };
    await expect(client.send(new dynamodb.PutItemCommand(put))).rejects.toBeInstanceOf(
      dynamodb.ConditionalCheckFailedException,
    );
  });

  it('throws what it was refused, with its name', async () => {
    await expect(client.send(new dynamodb.ScanCommand({ TableName: 'missing' }))).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      $metadata: { httpStatusCode: 400 },
    });
  });
});

/** Answers requests in turn, the last answer again and again. Returns the address and the requests' headers. */
async function answering(...answers: readonly ((response: ServerResponse) => void)[]) {
  const targets: unknown[] = [];
  const server = createServer((request, response) => {
    const answer = answers[Math.min(targets.length, answers.length - 1)];
    targets.push(request.headers['x-amz-target']);
    request.resume();
    answer?.(response);
  });
  const endpoint = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { endpoint, targets };
}

const refuse =
  (status: number, type: string, headers = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, headers);
    response.end(JSON.stringify({ __type: `com.amazonaws#${type}`, message: `it is ${type}` }));
  };
const answer = (value: object) => (response: ServerResponse) => void response.end(JSON.stringify(value));
const cut = (response: ServerResponse): void => void response.socket?.destroy();

describe('a request to a service', () => {
  it.each([
    ['AWS_ENDPOINT_URL_SECRETS_MANAGER', SecretsManagerClient, 'secretsmanager.GetSecretValue'],
    ['AWS_ENDPOINT_URL_SQS', SQSClient, 'AmazonSQS.GetSecretValue'],
    ['AWS_ENDPOINT_URL_DYNAMODB', dynamodb.DynamoDBClient, 'DynamoDB_20120810.GetSecretValue'],
  ])('goes where %s says', async (variable, Client, target) => {
    const { endpoint, targets } = await answering(answer({}));
    vi.stubEnv(variable, endpoint);
    onTestFinished(() => void vi.unstubAllEnvs());
    await new Client(LOGIN).send(secret);
    expect(targets).toEqual([target]);
  });

  const secret = new GetSecretValueCommand({ SecretId: 'a' });

  it.each([
    ['an error of the server', refuse(500, 'InternalServerError')],
    ['throttling', refuse(400, 'ThrottlingException')],
    ['a lost connection', cut],
    ['a clock that differs', refuse(400, 'InvalidSignatureException', { date: 'Mon, 01 Jan 2024 00:00:00 GMT' })],
  ])('is repeated after %s', async (_what, failing) => {
    const { endpoint, targets } = await answering(failing, answer({ SecretString: 'x' }));
    expect(await new SecretsManagerClient({ endpoint, ...LOGIN }).send(secret)).toEqual({ SecretString: 'x' });
    expect(targets).toEqual(['secretsmanager.GetSecretValue', 'secretsmanager.GetSecretValue']);
  });

  it('fails after three tries', async () => {
    const { endpoint, targets } = await answering(refuse(503, 'ServiceUnavailable'));
    const asked = new SecretsManagerClient({ endpoint, ...LOGIN }).send(secret);
    await expect(asked).rejects.toMatchObject({ name: 'ServiceUnavailable', message: 'it is ServiceUnavailable' });
    expect(targets).toHaveLength(3);
  });

  it('fails with the status where something in between answers', async () => {
    const { endpoint } = await answering((response) => response.writeHead(502).end('<html>'));
    const asked = new SecretsManagerClient({ endpoint, ...LOGIN }).send(secret);
    await expect(asked).rejects.toMatchObject({ name: 'HTTP 502', $metadata: { httpStatusCode: 502 } });
  });

  it('is not repeated where it was refused for good', async () => {
    const { endpoint, targets } = await answering(refuse(400, 'ResourceNotFoundException'));
    const asked = new SecretsManagerClient({ endpoint, ...LOGIN }).send(secret);
    await expect(asked).rejects.toBeInstanceOf(ResourceNotFoundException);
    expect(targets).toHaveLength(1);
  });

  it('ends with its signal, and within its time limit', async () => {
    const { endpoint, targets } = await answering(() => undefined);
    const client = new SecretsManagerClient({
      endpoint,
      ...LOGIN,
      maxAttempts: 1,
      requestHandler: { requestTimeout: 50 },
    });
    await expect(client.send(secret)).rejects.toMatchObject({ name: 'TimeoutError' });
    const before = targets.length;
    const over = new AbortController();
    const aborted = new SecretsManagerClient({ endpoint, ...LOGIN }).send(secret, { abortSignal: over.signal });
    const ended = aborted.catch((error: unknown) => error);
    await expect.poll(() => targets.length).toBe(before + 1);
    over.abort();
    expect(await ended).toMatchObject({ name: 'AbortError' });
  });
});

describe("a trigger's function", () => {
  const bundled = (contents: string): string =>
    runBundler({ ...BUNDLING, stdin: { contents, resolveDir: PROJECT_ROOT }, outdir: '/nowhere' }, true)
      .files.map(({ text }) => text)
      .join('');

  it('keeps the whole SDK that it imports, beside what the store has in its place', () => {
    const contents = `import { PutItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { putState } from './shared/dynamo/state-table.ts';
console.log(PutItemCommand, TransactWriteItemsCommand, putState);`;
    expect(bundled(contents)).toContain('TransactionCanceledException');
  });

  it('has no other SDK with the store alone', () => {
    const contents = `export { putState } from './shared/dynamo/state-table.ts';`;
    expect(bundled(contents)).not.toContain('TransactionCanceledException');
  });
});

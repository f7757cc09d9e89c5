import { createServer } from 'node:http';
import { join } from 'node:path';
import { GetQueueAttributesCommand, ListQueuesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Service } from '../../../../infra/local/emulators/emulator.ts';
import { startService } from '../../../../infra/local/emulators/start-service.ts';
import { openGateway, type Gateway } from '../../../../infra/local/gateway/gateway.ts';
import { openFunctionLog } from '../../../../infra/local/lambda/function-log.ts';
import { listen } from '../../../../infra/local/server.ts';
import { makeDataFolder } from '../../../../infra/local/folder/data-folder.ts';
import { DEFAULT_OPTIONS } from '../../../../infra/local/stack/local-stack-options.ts';
import { localResources, type LocalResources } from '../../../../infra/local/template/resources/local-resources.ts';
import { runTemplate, type RunningTemplate } from '../../../../infra/local/template/run-template.ts';
import { sqsClient } from '../../support/fifo-queue.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';
import { writeFiles } from '../../support/write-files.ts';

vi.setConfig({ testTimeout: 240_000 });

/** A migration that ends, or refuses, when the test says so. */
const MIGRATE = `export async function handler() {
  const answer = await fetch(process.env.TEST_URL);
  if (!answer.ok) throw new Error('refused');
  return {};
}`;
const ANSWER = 'export const handler = async () => process.env.GREETING;';

const folder = folderOfTests();
const parts = new AsyncDisposableStack();
const lines: string[] = [];
let sqs: Service;
let client: SQSClient;
let gateway: Gateway;
let running: RunningTemplate;
let testUrl: string;
let migrating: () => Promise<'done' | 'refused'>;

beforeAll(async () => {
  writeFiles(folder.path, { 'migrate/index.mjs': MIGRATE, 'answer/index.mjs': ANSWER });
  const data = makeDataFolder(join(folder.path, 'data'));
  sqs = await startService('sqs', data.sqs);
  parts.defer(() => sqs.close());
  client = sqsClient(sqs.url);
  parts.defer(() => client.destroy());
  const server = createServer(async (_request, response) => {
    response.writeHead((await migrating()) === 'done' ? 200 : 500).end();
  });
  testUrl = `http://127.0.0.1:${await listen(server, 0)}`;
  parts.defer(() => void server.close());
  gateway = await openGateway(0, () => undefined);
  parts.defer(() => gateway.close());
  const log = openFunctionLog(data.functionLog, data.metricLog);
  parts.defer(() => log.close());
  running = runTemplate({
    options: { ...DEFAULT_OPTIONS, log: (line) => lines.push(line) },
    folder: data,
    services: { dynamodb: '', sqs: sqs.url, secretsManager: '', rdsData: '' },
    log,
    gateway,
    setRights: async () => {},
  });
  parts.defer(() => running.stop());
});
afterAll(() => parts.disposeAsync());

function template(greeting: string, queues: Readonly<Record<string, number>>): LocalResources {
  const arnOf = (id: string): object => ({ 'Fn::GetAtt': [id, 'Arn'] });
  const lambda = (asset: string, Variables: object): object => ({
    Type: 'AWS::Lambda::Function',
    Properties: { Handler: 'index.handler', Timeout: 30, Environment: { Variables }, Role: arnOf('Role') },
    Metadata: { 'aws:asset:path': asset },
  });
  const Resources = {
    Role: { Type: 'AWS::IAM::Role' },
    Greet: lambda('answer', { GREETING: greeting }),
    Migrate: lambda('migrate', { TEST_URL: testUrl }),
    Framework: lambda('migrate', { USER_ON_EVENT_FUNCTION_ARN: arnOf('Migrate') }),
    Migration: { Type: 'Custom::Migration', Properties: { ServiceToken: arnOf('Framework'), Desired: greeting } },
    Greeting: { Type: 'AWS::ApiGatewayV2::Integration', Properties: { IntegrationUri: arnOf('Greet') } },
    Route: {
      Type: 'AWS::ApiGatewayV2::Route',
      Properties: {
        ApiId: 'api',
        RouteKey: 'GET /',
        Target: { 'Fn::Join': ['/', ['integrations', { Ref: 'Greeting' }]] },
      },
    },
    ...Object.fromEntries(
      Object.entries(queues).map(([id, VisibilityTimeout]) => [
        id,
        { Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout } },
      ]),
    ),
  };
  const stack = { name: 'shop', folder: folder.path, template: { Resources } };
  return localResources([stack] as unknown as Parameters<typeof localResources>[0], {
    groups: [],
    httpUrl: gateway.url,
    sqsUrl: sqs.url,
  });
}

const greeted = async (): Promise<string> => (await fetch(gateway.url)).text();

async function queueNames(): Promise<readonly string[]> {
  const { QueueUrls = [] } = await client.send(new ListQueuesCommand({}));
  return QueueUrls.map((url) => url.slice(url.lastIndexOf('/') + 1)).sort();
}

it('a template that cannot be applied changes no queue, and the next one removes the resources made for it', async () => {
  migrating = async () => 'done';
  await running.take(template('hello', { Orders: 60 }));
  expect([await greeted(), await queueNames()]).toEqual(['hello', ['shop-Orders']]);

  migrating = async () => 'refused';
  await expect(running.take(template('hi', { Orders: 90, Ships: 60 }))).rejects.toThrow('refused');
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: running.queueUrls[0], AttributeNames: ['VisibilityTimeout'] }),
  );
  expect([await greeted(), Attributes]).toEqual(['hello', { VisibilityTimeout: '60' }]);

  migrating = async () => 'done';
  await running.take(template('hello again', { Orders: 60 }));
  expect([await greeted(), await queueNames()]).toEqual(['hello again', ['shop-Orders']]);
});

it('a queue that cannot be deleted keeps nothing from being taken over, is named, and goes with what is taken next', async () => {
  migrating = async () => 'done';
  await running.take(template('hello', { Orders: 60, Ships: 60 }));
  migrating = async () => {
    await sqs.kill();
    return 'done';
  };
  try {
    await running.take(template('without ships', { Orders: 60 }));
    expect([await greeted(), running.queueUrls]).toEqual(['without ships', [`${sqs.url}/000000000000/shop-Orders`]]);
    expect(lines.at(-1)).toMatch(/^queues that are not defined any more could not be deleted, .*: \S+/u);
  } finally {
    await sqs.resume();
  }
  expect(await queueNames()).toEqual(['shop-Orders', 'shop-Ships']);
  migrating = async () => 'done';
  await running.take(template('without ships', { Orders: 60 }));
  expect(await queueNames()).toEqual(['shop-Orders']);
});

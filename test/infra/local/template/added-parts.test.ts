import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { Duration } from 'aws-cdk-lib';
import { HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Schedule, ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { makeDataFolder } from '../../../../infra/local/folder/data-folder.ts';
import { startSecretsManager } from '../../../../infra/local/emulators/secrets-manager.ts';
import { startService } from '../../../../infra/local/emulators/start-service.ts';
import { openGateway } from '../../../../infra/local/gateway/gateway.ts';
import { accessKeyOf } from '../../../../infra/local/iam/access-key.ts';
import { API_GATEWAY, SOURCE_ARN } from '../../../../infra/local/iam/statement.ts';
import { readRights } from '../../../../infra/local/iam/rights.ts';
import { openFunctionLog } from '../../../../infra/local/lambda/function-log.ts';
import { DEFAULT_OPTIONS } from '../../../../infra/local/stack/local-stack-options.ts';
import type { Forwarder, ShardGroup } from '../../../../infra/local/mysql/shard-groups.ts';
import { httpRoutes } from '../../../../infra/local/template/resources/http-api.ts';
import {
  checkTypes,
  localResources,
  type LocalResources,
} from '../../../../infra/local/template/resources/local-resources.ts';
import { schedules } from '../../../../infra/local/template/resources/schedule.ts';
import { runTemplate, type RunningTemplate } from '../../../../infra/local/template/run-template.ts';
import { localArn } from '../../../../infra/local/arn.ts';
import type { ServiceStack } from '../../../../infra/stacks/stacks.ts';
import { sqsClient } from '../../support/fifo-queue.ts';
import { synthesized } from '../../support/synthesized.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';
import { writeFiles } from '../../support/write-files.ts';

const CODE = `export async function handler(event) {
  console.log('called by', JSON.stringify(event));
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ routeKey: event.routeKey, queue: process.env.QUEUE_URL }) };
}`;

const folder = folderOfTests();
const parts = new AsyncDisposableStack();
let running: RunningTemplate;
let local: LocalResources;
let url: string;
let sqsUrl: string;
let logPath: string;

/** Adds parts as an owner of the app writes them; no list of the local stack knows of them. */
function addParts(service: ServiceStack): void {
  const code = join(folder.path, 'added');
  writeFiles(code, { 'index.mjs': CODE });
  const added = (id: string): LambdaFunction =>
    new LambdaFunction(service, id, {
      runtime: Runtime.NODEJS_24_X,
      handler: 'index.handler',
      code: Code.fromAsset(code),
      memorySize: 256,
    });

  const queue = new Queue(service, 'added-queue');
  const asked = added('asked');
  asked.addEnvironment('QUEUE_URL', queue.queueUrl);
  service.api.api.addRoutes({
    path: '/added/{thing}',
    methods: [HttpMethod.GET],
    integration: new HttpLambdaIntegration('added', asked),
  });
  added('consuming').addEventSource(new SqsEventSource(queue, { batchSize: 5 }));
  const schedule = ScheduleExpression.rate(Duration.minutes(1));
  expect(
    new Schedule(service, 'added-schedule', { schedule, target: new LambdaInvoke(added('started'), {}) }),
  ).toBeDefined();
}

/** A group without requests, since all functions are stand-ins. */
const endpoint = { host: '127.0.0.1', port: 1 } as Forwarder;
const silentGroup: ShardGroup = {
  name: 'group-1',
  resourceId: 'cluster-1',
  user: 'nobody',
  password: 'none',
  writerEndpoint: endpoint,
  readerEndpoint: endpoint,
  instanceEndpoints: [endpoint],
  nodes: [],
};

beforeAll(async () => {
  const stacks = synthesized(
    join(folder.path, 'cdk.out'),
    { environment: 'local', groups: 1, readers: 0 },
    { add: ({ service }) => addParts(service) },
  );
  checkTypes(stacks);
  const data = makeDataFolder(join(folder.path, 'data'));
  const log = parts.adopt(openFunctionLog(data.functionLog, data.metricLog), (one) => one.close());
  const gateway = parts.adopt(await openGateway(0, () => undefined), (one) => one.close());
  const dynamodb = parts.adopt(await startService('dynamodb', data.dynamodb), (one) => one.close());
  const sqs = parts.adopt(await startService('sqs', data.sqs), (one) => one.close());
  const secretsManager = parts.adopt(await startSecretsManager(), (one) => one.close());
  local = localResources(stacks, { groups: [silentGroup], httpUrl: gateway.url, sqsUrl: sqs.url });
  const services = { dynamodb: dynamodb.url, sqs: sqs.url, secretsManager: secretsManager.url, rdsData: '' };
  running = parts.adopt(
    runTemplate({
      options: DEFAULT_OPTIONS,
      folder: data,
      services,
      log,
      gateway,
      // By what the CDK lets API Gateway and EventBridge Scheduler call.
      setRights: async (rights) => {
        await Promise.all([gateway, running.schedules].map((judge) => judge.setRights(rights)));
      },
    }),
    (one) => one.stop(),
  );
  await running.take(local);
  [url, sqsUrl, logPath] = [gateway.url, sqs.url, log.path];
});
afterAll(() => parts.disposeAsync());

/** Returns the callers of a function, by the id that it has in the app. */
const callsOf = (id: string): readonly string[] =>
  readFileSync(logPath, 'utf8')
    .split('\n')
    .flatMap((line) => new RegExp(`^\\S+ ${id}\\w* called by (.*)$`, 'u').exec(line)?.[1] ?? []);

it('every route and schedule of the app may call its function', () => {
  const rights = readRights(running.rights);
  const action = 'lambda:InvokeFunction';
  const { resources, context } = local;
  const routes = httpRoutes(resources, context);
  const started = schedules(resources, context);
  expect(routes.length).toBeGreaterThan(20);
  expect(started.length).toBeGreaterThan(3);
  const sourceOf = ({ apiId, routeKey }: (typeof routes)[number]): string =>
    localArn('execute-api', `${apiId}/$default/${routeKey.replace(' ', '')}`);
  const keys = [accessKeyOf(API_GATEWAY), ...started.map(({ name }) => accessKeyOf(name))];
  expect(keys.filter((key) => !rights.knows(key))).toEqual([]);
  for (const route of routes) {
    const call = { action, resource: route.functionArn, context: { [SOURCE_ARN]: [sourceOf(route)] } };
    expect(rights.whyRefused(accessKeyOf(API_GATEWAY), call)).toBeUndefined();
  }
  for (const { name, functionArn } of started)
    expect(rights.whyRefused(accessKeyOf(name), { action, resource: functionArn })).toBeUndefined();
});

describe('a part that was added in the CDK app alone', () => {
  it('is answered, if it is a route, by its function with what the template gives it', async () => {
    const answer = await fetch(`${url}/added/thing`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      routeKey: 'GET /added/{thing}',
      queue: running.queueUrls.find((queue) => queue.includes('addedqueue')),
    });
  });

  it('calls its function with what is sent to it, if it is a queue', async () => {
    const client = sqsClient(sqsUrl);
    onTestFinished(() => client.destroy());
    const QueueUrl = running.queueUrls.find((queue) => queue.includes('addedqueue'));
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'a message' }));
    await expect
      .poll(() => callsOf('consuming'))
      .toEqual([expect.stringMatching(/^\{"Records":\[\{[^]*"body":"a message"/u)]);
  });

  it('is started, if it is a schedule', async () => {
    await expect.poll(() => callsOf('started')).toEqual([expect.stringContaining('"Scheduled Event"')]);
  });
});

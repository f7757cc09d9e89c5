import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ENVIRONMENT_NAMES, ENVIRONMENTS } from '../../../infra/environments.ts';
import type { ResourceAddress } from '../../../infra/local/template/template.ts';
import { byService, ROUTES_OF_A_CONSUMER, routesOf, statementsOf } from '../support/statements.ts';
import { appOf, resolvedByName, STAND_IN_PROJECT } from '../support/synthesized.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { writeFiles } from '../support/write-files.ts';

const FILES = {
  'trips/datastore.yaml': 'datastore: trips\nshards: 16\n',
  'trips/triggers/charge_rider.yaml':
    'trigger: charge_rider\ndatastore: trips\ncolumns: [BASE]\nfunction: functions/charge-rider.ts\nstart: 0\nmax_attempts: 3\n',
  'trips/triggers/slow.yaml':
    "trigger: slow\ndatastore: trips\ncolumns: '*'\nfunction: functions/charge-rider.ts\nstart: now\ntimeout: 10m\n",
  'trips/triggers/elsewhere.yaml': "trigger: elsewhere\ndatastore: trips\ncolumns: '*'\nstart: 0\nmax_attempts: 7\n",
};

const folder = folderOfTests();
const datastores = writeFiles(join(folder.path, 'datastores'), FILES);

describe.each(ENVIRONMENT_NAMES)('the triggers of %s', (environment) => {
  const madeThroughApi = ENVIRONMENTS[environment].definedByApi ? 1 : 0;
  const { stacks } = appOf({ environment, datastores, project: STAND_IN_PROJECT });
  const { resources, property } = resolvedByName(stacks);
  const ofType = (type: string): readonly ResourceAddress[] =>
    resources.filter(({ resource }) => resource.Type === type);
  const find = (type: string, start: string): ResourceAddress => {
    const found = ofType(type).filter(({ logicalId }) => logicalId.startsWith(start));
    expect(
      found.map(({ logicalId }) => logicalId),
      start,
    ).toHaveLength(1);
    return found[0] as ResourceAddress;
  };
  const queue = (name: string): ResourceAddress => find('AWS::SQS::Queue', `queuetrips${name}queue`);
  const parked = (name: string): ResourceAddress => find('AWS::SQS::Queue', `queuetrips${name}parked`);
  const triggerFunction = (name: string): ResourceAddress => find('AWS::Lambda::Function', `triggertrips${name}`);

  it('have a queue and a dead-letter queue each: ordered within a shard, at high throughput, with the longest retention', () => {
    expect(ofType('AWS::SQS::Queue')).toHaveLength(6);
    for (const { resource } of ofType('AWS::SQS::Queue')) {
      expect(resource.Properties).toMatchObject({
        FifoQueue: true,
        DeduplicationScope: 'messageGroup',
        FifoThroughputLimit: 'perMessageGroupId',
        MessageRetentionPeriod: 14 * 24 * 3600,
        SqsManagedSseEnabled: true,
      });
      // The tailer names what is a repeat; a body may come again after a rewind.
      expect(resource.Properties).not.toHaveProperty('ContentBasedDeduplication');
    }
  });

  it('give up a message late if our function counts attempts, sooner if the consumer is elsewhere', () => {
    const redrive = (name: string): unknown => property(queue(name), 'RedrivePolicy');
    for (const [name, maxReceiveCount] of [
      ['chargerider', 1000],
      ['slow', 1000],
      ['elsewhere', 100],
    ] as const)
      expect(redrive(name)).toEqual({ deadLetterTargetArn: `${parked(name).logicalId}.Arn`, maxReceiveCount });
  });

  it('have queues that accept TLS alone, and no purge', () => {
    const refused = ofType('AWS::SQS::QueuePolicy').map((policy) => {
      expect(property(policy, 'PolicyDocument')).toMatchObject({
        Statement: [
          {
            Action: 'sqs:*',
            Effect: 'Deny',
            Principal: { AWS: '*' },
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          },
          { Action: 'sqs:PurgeQueue', Effect: 'Deny', Principal: { AWS: '*' } },
        ],
      });
      return property(policy, 'Queues');
    });
    expect(refused.flat().sort()).toEqual(
      ofType('AWS::SQS::Queue')
        .map(({ logicalId }) => logicalId)
        .sort(),
    );
  });

  it('have the function that they name, with time for a whole batch, and messages hidden a minute longer', () => {
    expect(ofType('AWS::Lambda::Function').filter(({ logicalId }) => logicalId.startsWith('trigger'))).toHaveLength(2);
    for (const [name, seconds] of [
      ['chargerider', 10 * 30 + 60],
      ['slow', 900],
    ] as const) {
      const { resource } = triggerFunction(name);
      expect(resource.Properties).toMatchObject({ Handler: 'index.handler', Runtime: 'nodejs24.x', Timeout: seconds });
      expect(queue(name).resource.Properties?.['VisibilityTimeout']).toBe(seconds + 60);
    }
  });

  it('hand batches of ten to their functions, which report the messages that failed', () => {
    const mappings = ofType('AWS::Lambda::EventSourceMapping').map(
      (mapping) =>
        mapping.resource.Properties && {
          function: property(mapping, 'FunctionName'),
          queue: property(mapping, 'EventSourceArn'),
          batchSize: property(mapping, 'BatchSize'),
          responses: property(mapping, 'FunctionResponseTypes'),
          concurrency: property(mapping, 'ScalingConfig'),
        },
    );
    const wanted = ['chargerider', 'slow'].map((name) => ({
      function: triggerFunction(name).logicalId,
      queue: `${queue(name).logicalId}.Arn`,
      batchSize: 10,
      responses: ['ReportBatchItemFailures'],
      concurrency: { MaximumConcurrency: 50 },
    }));
    expect(mappings).toEqual(wanted);
  });

  it('tell their functions where the API and the tables are, outside of any VPC', () => {
    const [api] = ofType('AWS::ApiGatewayV2::Api');
    const functionOfTrigger = triggerFunction('chargerider');
    expect(property(functionOfTrigger, 'Environment')).toEqual({
      Variables: {
        SCHEMALESS_ENVIRONMENT: environment,
        SCHEMALESS_TOPOLOGY_TABLE: expect.stringContaining('tablestopology'),
        SCHEMALESS_STATE_TABLE: expect.stringContaining('tablesstate'),
        SCHEMALESS_API_URL: `${api?.logicalId}.ApiEndpoint`,
        SCHEMALESS_DATASTORE: 'trips',
      },
    });
    expect(functionOfTrigger.resource.Properties).not.toHaveProperty('VpcConfig');
  });

  it('let a function take its messages, call routes of cells and queries of its datastore, and keep state, and nothing else', () => {
    const granted = byService(statementsOf(stacks).get('triggertripschargerider'));
    const tracing = ENVIRONMENTS[environment].tracing ? ['xray'] : [];
    expect(Object.keys(granted).sort()).toEqual(['dynamodb', 'execute-api', 'sqs', ...tracing]);
    expect(granted['sqs']).toHaveLength(1);
    const actions = ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'GetQueueUrl', 'ReceiveMessage'];
    expect(granted['sqs']?.[0]?.actions.toSorted()).toEqual(actions.map((action) => `sqs:${action}`));
    expect(granted['sqs']?.[0]?.resources).toEqual([expect.stringContaining(queue('chargerider').logicalId)]);
    expect(routesOf(granted['execute-api'])).toEqual(ROUTES_OF_A_CONSUMER);
    const written = granted['dynamodb']?.filter((one) => one.actions.includes('dynamodb:UpdateItem'));
    expect(written?.flatMap(({ resources: tables }) => tables)).toEqual([expect.stringContaining('tablesstate')]);
    // No lease, no offset, nothing of another trigger: each action names the items that it is for.
    const name = 'trips#charge_rider';
    const keys = [`trigger#${name}`, `troubled#${name}#*`, `malformed#${name}`, `consumed#${name}#*`];
    expect(written?.map(({ conditions }) => conditions)).toEqual([
      { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': keys } },
    ]);
    expect(written?.flatMap(({ actions }) => actions)).not.toContain('dynamodb:Scan');
  });

  it('keep their queues if the environment is protected', () => {
    for (const { resource } of ofType('AWS::SQS::Queue'))
      expect([resource.DeletionPolicy, resource.UpdateReplacePolicy]).toEqual(
        ENVIRONMENTS[environment].protectedFromDeletion ? ['RetainExceptOnCreate', 'Retain'] : ['Delete', 'Delete'],
      );
  });

  it('let manage-triggers take messages off dead-letter queues alone', () => {
    const ofSqs = (statementsOf(stacks).get('managetriggers') ?? []).filter(({ actions }) =>
      actions.some((action) => action.startsWith('sqs:')),
    );
    const taking = ofSqs
      .filter(({ actions }) => actions.includes('sqs:ReceiveMessage') || actions.includes('sqs:DeleteMessage'))
      .flatMap(({ resources: queues }) => queues);
    // And one resource for all triggers that are made through the API.
    expect(taking).toHaveLength(3 + madeThroughApi);
    for (const name of ['chargerider', 'slow', 'elsewhere'])
      expect(taking).toContainEqual(expect.stringContaining(parked(name).logicalId));
    expect(ofSqs.flatMap(({ actions }) => actions)).not.toContain('sqs:SendMessage');
    for (const name of ['chargerider', 'slow', 'elsewhere'])
      expect(ofSqs.flatMap(({ resources: queues }) => queues)).toContainEqual(
        expect.stringContaining(queue(name).logicalId),
      );
  });

  it('let tailers alone send', () => {
    const senders = [...statementsOf(stacks)].flatMap(([role, statements]) =>
      statements
        .filter(({ actions }) => actions.includes('sqs:SendMessage'))
        .map(({ resources: queues }) => ({ role, queues })),
    );
    expect(senders.map(({ role }) => role)).toEqual(['tailshards']);
    for (const name of ['chargerider', 'slow', 'elsewhere'])
      expect(senders[0]?.queues).toContainEqual(expect.stringContaining(queue(name).logicalId));
    expect(senders[0]?.queues).toHaveLength(3 + madeThroughApi);
  });

  it('are reached from the VPC if functions run in one', () => {
    const endpoints = ofType('AWS::EC2::VPCEndpoint').map((endpoint) => String(property(endpoint, 'ServiceName')));
    expect(endpoints.filter((service) => service.endsWith('.sqs'))).toHaveLength(
      ENVIRONMENTS[environment].functionsInVpc ? 1 : 0,
    );
  });
});

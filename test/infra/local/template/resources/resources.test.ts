import { describe, expect, it } from 'vitest';
import { eventSources } from '../../../../../infra/local/template/resources/event-source.ts';
import { httpRoutes } from '../../../../../infra/local/template/resources/http-api.ts';
import { checkTypes, localResources } from '../../../../../infra/local/template/resources/local-resources.ts';
import { schedules } from '../../../../../infra/local/template/resources/schedule.ts';
import type { TemplateResource } from '../../../../../infra/local/template/template.ts';

function read(Resources: Readonly<Record<string, TemplateResource>>) {
  const world = { groups: [], httpUrl: 'http://api', sqsUrl: 'http://sqs' };
  return localResources([{ name: 'service', folder: '/nowhere', template: { Resources } }], world);
}

it('a resource that the local stack can neither run nor leave out is an error that names it', () => {
  const types = {
    Stream: 'AWS::Kinesis::Stream',
    Role: 'AWS::IAM::Role',
    Mine: 'Custom::Mine',
    Bucket: 'AWS::S3::Bucket',
  };
  const Resources = Object.fromEntries(Object.entries(types).map(([id, Type]) => [id, { Type }]));
  expect(() => checkTypes([{ name: 'service', folder: '/nowhere', template: { Resources } }])).toThrow(
    /^The local stack cannot run Stream \(AWS::Kinesis::Stream\) of service, Bucket \(AWS::S3::Bucket\) of service: /u,
  );
});

it('a schedule with a slot starts a tailer, whose number can change, unless it says of how many slots', () => {
  const started = (slot: object) => ({
    Type: 'AWS::Scheduler::Schedule',
    Properties: {
      ScheduleExpression: 'rate(1 minute)',
      Target: { Arn: 'arn', RoleArn: 'role', Input: JSON.stringify(slot) },
    },
  });
  const { resources, context } = read({ Tail: started({ slot: 1 }), Drain: started({ slot: 1, of: 2 }) });
  expect(schedules(resources, context).map(({ input, slot }) => [input, slot])).toEqual([
    ['{"slot":1}', 1],
    ['{"slot":1,"of":2}', undefined],
  ]);
});

describe('an event source mapping', () => {
  const mapped = (properties: object) => {
    const { resources, context } = read({
      Cells: { Type: 'AWS::SQS::Queue', Properties: { FifoQueue: true } },
      Charge: { Type: 'AWS::Lambda::Function', Properties: {} },
      Mapping: {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: {
          EventSourceArn: { 'Fn::GetAtt': ['Cells', 'Arn'] },
          FunctionName: { Ref: 'Charge' },
          ...properties,
        },
      },
    });
    return eventSources(resources, context);
  };

  it('says which queue calls which function, and how, and calls nothing while it is switched off', () => {
    const FunctionResponseTypes = ['ReportBatchItemFailures'];
    expect(mapped({ BatchSize: 5, FunctionResponseTypes, ScalingConfig: { MaximumConcurrency: 3 } })).toEqual([
      {
        queueUrl: 'http://sqs/000000000000/service-Cells.fifo',
        queueArn: 'arn:aws:sqs:us-east-1:000000000000:service-Cells.fifo',
        functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:service-Charge',
        batchSize: 5,
        maximumConcurrency: 3,
        reportsFailures: true,
      },
    ]);
    expect(mapped({ FunctionName: { 'Fn::GetAtt': ['Charge', 'Arn'] } })).toMatchObject([
      {
        functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:service-Charge',
        batchSize: 10,
        maximumConcurrency: undefined,
        reportsFailures: false,
      },
    ]);
    expect(mapped({ Enabled: false })).toEqual([]);
  });

  const STREAM = 'arn:aws:kinesis:us-east-1:000000000000:stream/cells';
  it.each([
    [{ EventSourceArn: STREAM }, `EventSourceArn: wanted a queue of the template, got "${STREAM}`],
    [{ BatchSize: 100 }, 'BatchSize: wanted 1 to 10, which is what one receive gives, got 100'],
    [{ FilterCriteria: { Filters: [] } }, 'FilterCriteria: wanted none'],
  ])('is refused with %j, not left out', (properties, message) => {
    expect(() => mapped(properties)).toThrow(`Mapping (AWS::Lambda::EventSourceMapping) of service, ${message}`);
  });
});

describe('the routes of the template', () => {
  const routesWith = (...types: readonly (string | undefined)[]) => {
    const Target = { 'Fn::Join': ['', ['integrations/', { Ref: 'ReadCells' }]] };
    const routes = types.map((AuthorizationType, position): [string, TemplateResource] => {
      const Properties = {
        ApiId: 'api',
        RouteKey: `GET /${position}`,
        Target,
        ...(AuthorizationType && { AuthorizationType }),
      };
      return [`Route${position}`, { Type: 'AWS::ApiGatewayV2::Route', Properties }];
    });
    const integration = { Type: 'AWS::ApiGatewayV2::Integration', Properties: { IntegrationUri: 'arn:read-cells' } };
    const { resources, context } = read({ ReadCells: integration, ...Object.fromEntries(routes) });
    return httpRoutes(resources, context);
  };

  it('are for those for whom it says', () => {
    const route = { functionArn: 'arn:read-cells', timeoutMs: 30_000, apiId: 'api' };
    expect(routesWith('AWS_IAM', 'NONE', undefined)).toEqual([
      { ...route, routeKey: 'GET /0', authorization: 'AWS_IAM' },
      { ...route, routeKey: 'GET /1', authorization: 'NONE' },
      { ...route, routeKey: 'GET /2', authorization: 'NONE' },
    ]);
  });

  it('are refused with an authorizer that is not known here, rather than left open', () => {
    expect(() => routesWith('AWS_IAM', 'JWT')).toThrow('Route1.AuthorizationType: wanted AWS_IAM or NONE, got "JWT"');
  });
});

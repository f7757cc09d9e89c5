import { describe, expect, it, onTestFinished } from 'vitest';
import { openGateway } from '../../../../infra/local/gateway/gateway.ts';
import { accessKeyOf } from '../../../../infra/local/iam/access-key.ts';
import type { RightsByKey } from '../../../../infra/local/iam/rights.ts';
import { httpRoutes } from '../../../../infra/local/template/resources/http-api.ts';
import { localResources } from '../../../../infra/local/template/resources/local-resources.ts';
import {
  rightsOfApiGateway,
  checkRolesOfSchedules,
  rightsOfRoles,
} from '../../../../infra/local/template/resources/role.ts';
import { schedules } from '../../../../infra/local/template/resources/schedule.ts';
import { runSchedules } from '../../../../infra/local/template/run-schedules.ts';
import { localArn } from '../../../../infra/local/arn.ts';
import { presignedPath } from '../gateway/presigned-path.ts';

const READ = localArn('lambda', 'function:shop-Read');
const CREDENTIALS = { accessKeyId: 'owner', secretAccessKey: 'a secret' };
const arnOf = (id: string): object => ({ 'Fn::GetAtt': [id, 'Arn'] });

function read(Resources: Readonly<Record<string, { readonly Type: string; readonly Properties?: object }>>) {
  const lambda = { Type: 'AWS::Lambda::Function', Properties: { Handler: 'index.handler' } };
  const template = { Resources: { Read: lambda, Write: lambda, ...Resources } };
  const stacks = [{ name: 'shop', folder: '/nowhere', template }] as unknown as Parameters<typeof localResources>[0];
  return localResources(stacks, { groups: [], httpUrl: '', sqsUrl: '' });
}

describe('API Gateway', () => {
  const route = {
    Integration: { Type: 'AWS::ApiGatewayV2::Integration', Properties: { IntegrationUri: arnOf('Read') } },
    Route: {
      Type: 'AWS::ApiGatewayV2::Route',
      Properties: {
        ApiId: 'api',
        RouteKey: 'GET /v1/{datastore}/shards',
        AuthorizationType: 'AWS_IAM',
        Target: { 'Fn::Join': ['', ['integrations/', { Ref: 'Integration' }]] },
      },
    },
  };
  const permission = (rest: object = {}) => ({
    Permission: {
      Type: 'AWS::Lambda::Permission',
      Properties: {
        Action: 'lambda:InvokeFunction',
        FunctionName: arnOf('Read'),
        Principal: 'apigateway.amazonaws.com',
        SourceArn: localArn('execute-api', 'api/*/*/*'),
        ...rest,
      },
    },
  });

  interface Asked {
    readonly path?: (url: string) => Promise<string>;
    readonly rights?: RightsByKey;
    readonly isChecked?: boolean;
  }

  async function ask(resources: Parameters<typeof read>[0], { path, rights = {}, isChecked = false }: Asked = {}) {
    const [output, events]: [string[], string[]] = [[], []];
    const gateway = await openGateway(0, (line) => output.push(line), isChecked ? { credentials: CREDENTIALS } : {});
    onTestFinished(() => gateway.close());
    const { resources: list, context } = read({ ...route, ...resources });
    gateway.serve(httpRoutes(list, context), () => async (event) => (events.push(event), { text: '{}' }));
    await gateway.setRights({ ...rightsOfApiGateway(list, context), ...rights });
    const { status } = await fetch(`${gateway.url}${(await path?.(gateway.url)) ?? '/v1/trips/shards'}`);
    return { status, output: output.join('\n'), events: events.map((event): unknown => JSON.parse(event)) };
  }

  const source = (path: string) => permission({ SourceArn: localArn('execute-api', path) });
  const REFUSED = `GET /v1/{datastore}/shards: User: apigateway.amazonaws.com is not authorized to perform: lambda:InvokeFunction on resource: ${READ} with aws:SourceArn ${localArn('execute-api', 'api/$default/GET/v1/{datastore}/shards')} because no resource-based policy allows the lambda:InvokeFunction action`;
  it.each([
    ['of the whole API', permission(), 200],
    ['of this route', source('api/*/*/v1/{datastore}/shards'), 200],
    ['of this method', source('api/$default/GET/*'), 200],
    ['by the name of the function', permission({ FunctionName: { Ref: 'Read' } }), 200],
    ['without a source', permission({ SourceArn: undefined }), 200],
    ['that is not there', {}, 500],
    ['of another function', permission({ FunctionName: arnOf('Write') }), 500],
    ['of another API', source('other/*/*/*'), 500],
    ['of another route', source('api/*/*/v1/{datastore}/rows'), 500],
    ['of another method', source('api/*/PUT/*'), 500],
    ['of another service', permission({ Principal: 'events.amazonaws.com' }), 500],
    ['to read its code', permission({ Action: 'lambda:GetFunction' }), 500],
  ])('calls a function by its permission %s, or answers as if it had failed', async (_, resources, status) => {
    const answer = await ask(resources);
    expect([answer.status, answer.events.length]).toEqual([status, status === 200 ? 1 : 0]);
    expect(answer.output.replace(/^\S+ /u, '')).toBe(status === 200 ? '' : REFUSED);
  });

  it('has a permission refused that says more than is judged', async () => {
    await expect(ask(permission({ SourceAccount: '000000000000' }))).rejects.toThrow(
      'Permission (AWS::Lambda::Permission) of shop: wanted Action, FunctionName, Principal, SourceArn alone, got SourceAccount',
    );
  });

  it.each([false, true])('answers a presigned request by its role, signatures checked: %s', async (isChecked) => {
    const own = { ...CREDENTIALS, accessKeyId: accessKeyOf('fn') };
    const path = (url: string): Promise<string> => presignedPath(`${url}/v1/trips/shards`, own);
    const asked = (resource: string) => {
      const Resource = localArn('execute-api', `api/$default/${resource}`);
      const statements = [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource }];
      return ask(permission(), {
        path,
        isChecked,
        rights: { [own.accessKeyId]: { name: 'fn', role: 'role', statements } },
      });
    };
    expect(await asked('GET/v1/trips/*')).toMatchObject({
      status: 200,
      output: '',
      // The signer is known if the signature is checked.
      events: [{ requestContext: isChecked ? { authorizer: { iam: { accessKey: own.accessKeyId } } } : {} }],
    });
    expect(await asked('GET/v1/others/*')).toMatchObject({
      status: 403,
      output: expect.stringContaining('/fn is not authorized to perform: execute-api:Invoke'),
      events: [],
    });
  });
});

describe('EventBridge Scheduler', () => {
  const trust = (Service: string) => ({
    AssumeRolePolicyDocument: { Statement: [{ Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service } }] },
  });
  const resourcesWith = (policy: object, Service = 'scheduler.amazonaws.com') => ({
    Role: { Type: 'AWS::IAM::Role', Properties: trust(Service) },
    Policy: {
      Type: 'AWS::IAM::Policy',
      Properties: { Roles: [{ Ref: 'Role' }], PolicyDocument: { Statement: [policy] } },
    },
    Schedule: {
      Type: 'AWS::Scheduler::Schedule',
      Properties: {
        ScheduleExpression: 'rate(1 minute)',
        Target: { Arn: arnOf('Read'), RoleArn: arnOf('Role'), Input: '{"slot":0}' },
      },
    },
  });
  const allow = (rest: object = {}) => ({
    Effect: 'Allow',
    Action: 'lambda:InvokeFunction',
    Resource: [arnOf('Read')],
    ...rest,
  });

  async function start(resources: Parameters<typeof read>[0]) {
    const { resources: list, context } = read(resources);
    const [called, output]: [string[], string[]] = [[], []];
    const running = runSchedules({
      invoke: async (arn) => (called.push(arn), 'null'),
      onError: (message) => output.push(message),
    });
    onTestFinished(() => running.stop());
    const scheduled = schedules(list, context);
    checkRolesOfSchedules(list, context, scheduled);
    await running.setRights(rightsOfRoles(list, context, scheduled, (why) => output.push(why)));
    running.take({ schedules: scheduled });
    return { called, output };
  }

  it('starts a function that its role may start', async () => {
    expect(await start(resourcesWith(allow()))).toEqual({ called: [READ], output: [] });
  });

  it.each([
    ['starts another function', allow({ Resource: arnOf('Write') })],
    ['starts nothing', allow({ Action: 'lambda:GetFunction' })],
    ['is forbidden it', allow({ Effect: 'Deny' })],
  ])('calls no function if its role %s, and says so', async (_, policy) => {
    const { called, output } = await start(resourcesWith(policy));
    expect(called).toEqual([]);
    expect(output).toEqual([
      expect.stringContaining(
        `shop-Schedule: User: arn:aws:sts::000000000000:assumed-role/shop-Role/shop-Schedule is not authorized to perform: lambda:InvokeFunction on resource: ${READ}`,
      ),
    ]);
  });

  it('gets no role that is meant for another service', async () => {
    await expect(start(resourcesWith(allow(), 'events.amazonaws.com'))).rejects.toThrow(
      'shop-Schedule, RoleArn: wanted a role that scheduler.amazonaws.com may take, got Role (AWS::IAM::Role) of shop',
    );
  });
});

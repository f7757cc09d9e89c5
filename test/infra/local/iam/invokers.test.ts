import { describe, expect, it, onTestFinished } from 'vitest';
import { openGateway } from '../../../../infra/local/gateway/gateway.ts';
import { accessKeyOf } from '../../../../infra/local/iam/access-key.ts';
import type { RightsByKey } from '../../../../infra/local/iam/rights.ts';
import { httpRoutes } from '../../../../infra/local/template/resources/http-api.ts';
import { localResources } from '../../../../infra/local/template/resources/local-resources.ts';
import { rightsOfApiGateway } from '../../../../infra/local/template/resources/permission.ts';
import { checkRolesOfSchedules, rightsOfRoles } from '../../../../infra/local/template/resources/role.ts';
import { schedules } from '../../../../infra/local/template/resources/schedule.ts';
import { runSchedules } from '../../../../infra/local/template/run-schedules.ts';
import { localArn } from '../../../../infra/local/template/template.ts';
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

  /** What a request is answered, and what is said of it. */
  async function ask(
    resources: Parameters<typeof read>[0],
    { path = '/v1/trips/shards', rights = {}, isChecked = false }: Asked = {},
  ): Promise<readonly [number, string]> {
    const said: string[] = [];
    const gateway = await openGateway(0, (line) => said.push(line), isChecked ? { credentials: CREDENTIALS } : {});
    onTestFinished(() => gateway.close());
    const { resources: list, context } = read({ ...route, ...resources });
    gateway.serve(httpRoutes(list, context), () => async () => ({ text: '{"statusCode":200}' }));
    await gateway.setRights({ ...rightsOfApiGateway(list, context), ...rights });
    const answer = await fetch(`${gateway.url}${await (typeof path === 'string' ? path : path(gateway.url))}`);
    return [answer.status, said.join('\n')];
  }

  interface Asked {
    readonly path?: string | ((url: string) => Promise<string>);
    readonly rights?: RightsByKey;
    readonly isChecked?: boolean;
  }

  it.each([
    ['of the whole API', permission()],
    ['of this route', permission({ SourceArn: localArn('execute-api', 'api/*/*/v1/{datastore}/shards') })],
    ['of this method', permission({ SourceArn: localArn('execute-api', 'api/$default/GET/*') })],
    ['by the name of the function', permission({ FunctionName: { Ref: 'Read' } })],
    ['without a source', permission({ SourceArn: undefined })],
  ])('calls a function by its permission %s', async (_, resources) => {
    expect(await ask(resources)).toEqual([200, '']);
  });

  it.each([
    ['lets nobody call it', {}],
    ['lets another function be called', permission({ FunctionName: arnOf('Write') })],
    ['lets another API call it', permission({ SourceArn: localArn('execute-api', 'other/*/*/*') })],
    ['lets another route call it', permission({ SourceArn: localArn('execute-api', 'api/*/*/v1/{datastore}/rows') })],
    ['lets another method call it', permission({ SourceArn: localArn('execute-api', 'api/*/PUT/*') })],
    ['lets another service call it', permission({ Principal: 'events.amazonaws.com' })],
    ['lets its code be read', permission({ Action: 'lambda:GetFunction' })],
  ])('is answered for a function that %s as if it had failed', async (_, resources) => {
    const [status, said] = await ask(resources);
    expect(status).toBe(500);
    expect(said).toContain(
      `GET /v1/{datastore}/shards: User: apigateway.amazonaws.com is not authorized to perform: lambda:InvokeFunction on resource: ${READ}`,
    );
    expect(said).toContain('because no resource-based policy allows the lambda:InvokeFunction action');
  });

  it('has a permission refused that says more than is judged', async () => {
    await expect(ask(permission({ SourceAccount: '000000000000' }))).rejects.toThrow(
      'Permission (AWS::Lambda::Permission) of shop: wanted Action, FunctionName, Principal, SourceArn alone, got SourceAccount',
    );
  });

  describe.each([false, true])('asked by a function with a presigned request, signatures checked: %s', (isChecked) => {
    const own = { ...CREDENTIALS, accessKeyId: accessKeyOf('fn') };
    const path = async (url: string): Promise<string> => presignedPath(`${url}/v1/trips/shards`, own);
    const rightsFor = (resource: string): RightsByKey => ({
      [own.accessKeyId]: {
        name: 'fn',
        role: 'role',
        statements: [
          {
            Effect: 'Allow',
            Action: 'execute-api:Invoke',
            Resource: localArn('execute-api', `api/$default/${resource}`),
          },
        ],
      },
    });

    it('answers by the policies of its role', async () => {
      const allowed = { path, isChecked, rights: rightsFor('GET/v1/trips/*') };
      expect(await ask(permission(), allowed)).toEqual([200, '']);
      const [status, said] = await ask(permission(), { path, isChecked, rights: rightsFor('GET/v1/others/*') });
      expect([status, said]).toEqual([
        403,
        expect.stringContaining('/fn is not authorized to perform: execute-api:Invoke'),
      ]);
    });
  });

  it('tells the function of a presigned request who signed it', async () => {
    const events: string[] = [];
    const gateway = await openGateway(0, () => undefined, { credentials: CREDENTIALS });
    onTestFinished(() => gateway.close());
    const { resources, context } = read({ ...route, ...permission() });
    gateway.serve(httpRoutes(resources, context), () => async (event) => (events.push(event), { text: '{}' }));
    await fetch(`${gateway.url}${await presignedPath(`${gateway.url}/v1/trips/shards`, CREDENTIALS)}`);
    const [event = '{}'] = events;
    expect(JSON.parse(event)).toMatchObject({ requestContext: { authorizer: { iam: { accessKey: 'owner' } } } });
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

  /** What is called, and what is said of it. */
  async function start(resources: Parameters<typeof read>[0]) {
    const { resources: list, context } = read(resources);
    const [called, said]: [string[], string[]] = [[], []];
    const running = runSchedules({
      invoke: async (arn) => (called.push(arn), 'null'),
      onError: (message) => said.push(message),
    });
    onTestFinished(() => running.stop());
    const scheduled = schedules(list, context);
    checkRolesOfSchedules(list, context, scheduled);
    await running.setRights(rightsOfRoles(list, context, scheduled, (why) => said.push(why)));
    running.take({ schedules: scheduled });
    return { called, said };
  }

  it('starts a function that its role may start', async () => {
    expect(await start(resourcesWith(allow()))).toEqual({ called: [READ], said: [] });
  });

  it.each([
    ['starts another function', allow({ Resource: arnOf('Write') })],
    ['starts nothing', allow({ Action: 'lambda:GetFunction' })],
    ['is forbidden it', allow({ Effect: 'Deny' })],
  ])('calls nobody where its role %s, and says so', async (_, policy) => {
    const { called, said } = await start(resourcesWith(policy));
    expect(called).toEqual([]);
    expect(said).toEqual([
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

import { describe, expect, it } from 'vitest';
import { App } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { buildApp, checkBinding } from '../../../infra/app.ts';
import type { AppContext } from '../../../infra/app-context.ts';
import { checkEnvironment } from '../../../infra/constructs/store-options.ts';
import { ENVIRONMENT_NAMES, ENVIRONMENTS, type EnvironmentProps } from '../../../infra/environments.ts';
import { checkTypes } from '../../../infra/local/template/resources/local-resources.ts';
import { CONSOLE_ROUTES, GATEWAY_ROUTES } from '../../../shared/api/operations.ts';
import { circleIn } from '../support/references.ts';
import { appOf, propertiesOf, resourcesOf, STAND_INS } from '../support/synthesized.ts';

describe.each(ENVIRONMENT_NAMES)('the app of %s', (environment) => {
  const { stacks } = appOf({ environment });
  const properties = (type: string) => propertiesOf(stacks, type);

  it('has every route, and one for all other paths, each behind IAM', () => {
    const routes = properties('AWS::ApiGatewayV2::Route');
    // Browsers sign no preflight request: the gateway answers it unless a route takes it.
    const ofOthers =
      ENVIRONMENTS[environment].corsOrigins.length > 0
        ? ['GET /', ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} /{proxy+}`)]
        : ['$default'];
    const answered = [...GATEWAY_ROUTES, ...(ENVIRONMENTS[environment].console === true ? CONSOLE_ROUTES : [])];
    expect(routes.map(({ RouteKey }) => RouteKey).sort()).toEqual(
      [...ofOthers, ...answered.map(({ method, path }) => `${method} ${path}`)].sort(),
    );
    expect(new Set(routes.map(({ AuthorizationType }) => AuthorizationType))).toEqual(new Set(['AWS_IAM']));
  });

  it('lets pages of other origins call the API on one machine alone, with the headers that they need', () => {
    const [api] = properties('AWS::ApiGatewayV2::Api');
    const cors: unknown = api?.['CorsConfiguration'];
    if (environment === 'local')
      expect(cors).toMatchObject({
        AllowOrigins: ['http://localhost:*', 'http://127.0.0.1:*', 'http://[::1]:*'],
        AllowMethods: ['GET', 'PUT', 'POST', 'DELETE'],
        AllowHeaders: expect.arrayContaining(['authorization', 'content-type', 'x-request-id']),
        ExposeHeaders: expect.arrayContaining(['x-request-id', 'retry-after']),
      });
    else expect(cors).toBeUndefined();
  });

  it('throttles its API, and logs who asked what, for as long as it says', () => {
    const { throttle, logDays, protectedFromDeletion } = ENVIRONMENTS[environment];
    const [stage, ...others] = properties('AWS::ApiGatewayV2::Stage');
    expect(others).toEqual([]);
    expect(stage).toMatchObject({
      StageName: '$default',
      DefaultRouteSettings: { ThrottlingRateLimit: throttle.ratePerSecond, ThrottlingBurstLimit: throttle.burst },
    });
    expect(JSON.parse(Object(stage?.['AccessLogSettings']).Format)).toMatchObject({
      caller: '$context.identity.userArn',
      status: '$context.status',
    });
    const ofStore = properties('AWS::Lambda::Function').filter(({ Description }) =>
      String(Description).startsWith('Schemaless: '),
    );
    for (const { LoggingConfig } of ofStore) expect(LoggingConfig).toMatchObject({ LogGroup: expect.anything() });
    const logs = resourcesOf(stacks, 'AWS::Logs::LogGroup').filter(
      ({ Properties }) => Properties?.['RetentionInDays'] === logDays,
    );
    // Besides those of the API, of the frameworks that call migration and preflight, of the network, of clusters and
    // proxies.
    const { groups, proxy } = ENVIRONMENTS[environment];
    expect(logs).toHaveLength(ofStore.length + 3 + (environment === 'local' ? 0 : 1) + groups * (proxy ? 2 : 1));
    // API Gateway adds logs of other names to a policy of the account that holds 5,120 characters.
    expect(logs.map(({ Properties }) => Properties?.['LogGroupName'])).toContain(
      `/aws/vendedlogs/schemaless-${environment}/access`,
    );
    const policy = protectedFromDeletion ? 'RetainExceptOnCreate' : 'Delete';
    for (const log of logs) expect(log).toMatchObject({ DeletionPolicy: policy });
  });

  it('has nothing that waits for itself in a circle', () => {
    for (const stack of stacks) expect(circleIn(stack)).toEqual([]);
  });

  it('is all known to the local stack', () => {
    expect(() => checkTypes(stacks)).not.toThrow();
  });
});

describe('an environment', () => {
  it('is named on the command line', () => {
    expect(() => appOf({})).toThrow(
      'environment: wanted one of local, dev, small, staging, prod (-c environment=NAME), got undefined',
    );
    expect(() => appOf({ environment: 'test' })).toThrow(/got "test"/u);
  });

  it('is bound to an account and a region if its data stays', () => {
    const check = (context: AppContext): void =>
      checkBinding(buildApp(new App({ context }), {}, () => ({ own: () => Code.fromAsset(STAND_INS) })).storage);
    const region = 'eu-west-1';
    for (const environment of ['small', 'prod'])
      expect(() => check({ environment, region })).toThrow(
        `${environment}: wanted the account and the region that its data stays in, got none and eu-west-1.`,
      );
    expect(() => check({ environment: 'prod', region, account: '123456789012' })).not.toThrow();
    expect(() => check({ environment: 'staging' })).not.toThrow();
  });

  it.each<[AppContext, string | RegExp]>([
    [{ environment: 'prod', groups: '2' }, /groups: wanted nothing/u],
    [{ environment: 'dev', tailers: '2' }, /tailers: wanted nothing/u],
    [{ environment: 'local', groups: 'two' }, 'groups: wanted a whole number from 1 to 20, got "two"'],
    [{ environment: 'local', tailers: '65' }, 'tailers: wanted a whole number from 1 to 64, got "65"'],
    [{ environment: 'local', access: 'http' }, 'access: wanted mysql or data-api, got "http"'],
  ])('is not changed on the command line, but for the local one: %j', (context, message) => {
    expect(() => appOf(context)).toThrow(message);
  });

  it('of dev and the local one can be without schedules, and their alarms', () => {
    const stacks = appOf({ environment: 'dev', schedules: 'off' }).stacks;
    expect(resourcesOf(stacks, 'AWS::Scheduler::Schedule')).toEqual([]);
    expect(JSON.stringify(resourcesOf(stacks, 'AWS::CloudWatch::Alarm'))).not.toContain('loop-stopped');
    expect(propertiesOf(stacks, 'AWS::RDS::DBCluster')).toMatchObject([
      { ServerlessV2ScalingConfiguration: { MinCapacity: 0, MaxCapacity: 4 } },
    ]);
    expect(() => appOf({ environment: 'prod', schedules: 'off' })).toThrow(/schedules: wanted nothing/u);
    expect(() => appOf({ environment: 'dev', schedules: 'sometimes' })).toThrow(
      'schedules: wanted on or off, got "sometimes"',
    );
  });

  const { dev, prod } = ENVIRONMENTS;
  it.each<[EnvironmentProps, Partial<EnvironmentProps>, string]>([
    [
      prod,
      { groups: 100 },
      'groups: wanted a whole number from 1 to 40, got 100. More exceed the 60 rules of a security group, the 1,024 open files of a function',
    ],
    [prod, { groupsInFirstStack: 0 }, 'groupsInFirstStack: wanted a whole number from 1 to 40, got 0'],
    [prod, { functionsInVpc: false }, 'functionsInVpc: wanted true'],
    [dev, { functionsInVpc: true }, 'functionsInVpc: wanted false'],
    [prod, { proxy: false }, 'databaseAuth: wanted secret without a proxy, which checks the tokens, got iam'],
  ])('$name is refused where its parts do not fit: %j', (environment, changed, message) => {
    expect(() => checkEnvironment({ ...environment, ...changed })).toThrow(`${environment.name}.${message}`);
  });
});

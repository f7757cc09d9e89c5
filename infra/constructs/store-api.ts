import { Duration } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  ApiMapping,
  CfnStage,
  CorsHttpMethod,
  DomainName,
  HttpApi,
  HttpMethod,
  HttpRoute,
  HttpRouteKey,
  HttpStage,
  LogGroupLogDestination,
  SecurityPolicy,
  type HttpRouteIntegration,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { StoreEnvironment } from './store-environment.ts';
import { keptLog } from './kept-log.ts';
import {
  CONSOLE_HANDLER,
  CONSOLE_ROUTES,
  DEFAULT_HANDLER,
  DEFINING_HANDLER,
  GATEWAY_ROUTES,
  ROUTES,
  type Operation,
  type Route,
} from '../../shared/api/routes.ts';

export interface StoreApiProps {
  readonly environment: StoreEnvironment;
  /** The functions that answer, by the `handler` of the routes. */
  readonly functions: Readonly<Record<Exclude<Route['handler'], typeof DEFINING_HANDLER>, IFunction>> &
    Readonly<Partial<Record<typeof DEFINING_HANDLER, IFunction>>>;
}

/** A line for each request: who asked what, and what was answered when. Bodies are in no log. */
const ACCESS_LOG = {
  request_id: '$context.requestId',
  time: '$context.requestTime',
  caller: '$context.identity.userArn',
  source_ip: '$context.identity.sourceIp',
  route: '$context.routeKey',
  path: '$context.path',
  status: '$context.status',
  milliseconds: '$context.responseLatency',
  bytes: '$context.responseLength',
  error: '$context.error.message',
  integration_error: '$context.integrationErrorMessage',
};

/** What pages of other origins may send and read, where they may ask at all. */
const CORS = {
  allowMethods: [CorsHttpMethod.GET, CorsHttpMethod.PUT, CorsHttpMethod.POST, CorsHttpMethod.DELETE],
  // A wildcard would leave out `authorization`.
  allowHeaders: [
    'accept',
    'authorization',
    'content-type',
    'if-none-match',
    'traceparent',
    'x-amz-content-sha256',
    'x-amz-date',
    'x-amz-security-token',
    'x-request-id',
  ],
  exposeHeaders: ['etag', 'retry-after', 'x-json', 'x-request-id'],
  maxAge: Duration.hours(1),
};

/**
 * The routes of all that is no route of the store, by the ids of their constructs. Where pages of other origins may ask
 * they take every method but OPTIONS: the gateway answers preflight requests, which no browser signs, but not where a
 * route that wants a signature takes them; and one that wants none would call a function for whoever asks.
 */
function fallbacks(hasPreflights: boolean): readonly (readonly [string, HttpRouteKey])[] {
  if (!hasPreflights) return [['fallback', HttpRouteKey.DEFAULT]];
  const { GET, HEAD, POST, PUT, PATCH, DELETE } = HttpMethod;
  return [
    ['fallback-root', HttpRouteKey.with('/', GET)],
    ...[GET, HEAD, POST, PUT, PATCH, DELETE].map((method): [string, HttpRouteKey] => [
      `fallback-${method.toLowerCase()}`,
      HttpRouteKey.with('/{proxy+}', method),
    ]),
  ];
}

/** The HTTP API: the routes of `shared/api/routes.ts`, each only for who is allowed by IAM to call it. */
export class StoreApi extends Construct {
  readonly api: HttpApi;
  readonly stage: HttpStage;
  /** Of all other paths and methods. */
  readonly fallbacks: readonly HttpRoute[];
  /** Before the API, where the environment names one. */
  readonly domain: DomainName | undefined;
  /** What a policy names to allow the console's files, where there are some. */
  readonly consoleArns: readonly string[];

  constructor(scope: Construct, id: string, props: StoreApiProps) {
    super(scope, id);
    const { corsOrigins } = props.environment;
    this.api = new HttpApi(this, 'api', {
      description: 'Schemaless',
      createDefaultStage: false,
      ...(corsOrigins.length > 0 && { corsPreflight: { ...CORS, allowOrigins: [...corsOrigins] } }),
      // For any route added without saying so.
      defaultAuthorizer: new HttpIamAuthorizer(),
    });
    const { ratePerSecond, burst } = props.environment.throttle;
    this.stage = new HttpStage(this, 'stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: ratePerSecond, burstLimit: burst },
      accessLogSettings: {
        destination: new LogGroupLogDestination(keptLog(this, 'access', props.environment)),
        format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
      },
    });
    const integrations = new Map(
      Object.entries(props.functions).map(([name, handler]) => [
        name,
        // One permission for all routes of a function: with one each, its policy would outgrow 20 KB.
        new HttpLambdaIntegration(name, handler, { scopePermissionToRoute: false }),
      ]),
    );
    const integrationOf = (handler: Route['handler']): HttpRouteIntegration => {
      // Where there is no such function another one says that it goes by deploy.
      const integration =
        integrations.get(handler) ?? (handler === DEFINING_HANDLER && integrations.get(DEFAULT_HANDLER));
      if (!integration) throw new Error(`the API: wanted a function ${handler}, got none`);
      return integration;
    };
    for (const route of GATEWAY_ROUTES) {
      const added = this.api.addRoutes({
        path: route.path,
        methods: [HttpMethod[route.method]],
        integration: integrationOf(route.handler),
      });
      // A stage that is told of a route which is not there yet is refused.
      if (props.environment.routeThrottles?.[route.operation]) this.stage.node.addDependency(...added);
    }
    if (props.environment.console === true)
      for (const { method, path } of CONSOLE_ROUTES)
        this.api.addRoutes({ path, methods: [HttpMethod[method]], integration: integrationOf(CONSOLE_HANDLER) });
    this.consoleArns =
      props.environment.console === true
        ? ['GET', 'HEAD'].flatMap((method) =>
            ['/console', '/console/*'].map((path) => this.api.arnForExecuteApi(method, path, '$default')),
          )
        : [];
    this.throttleRoutes(props.environment);
    this.domain = this.addDomain(props.environment);
    // By itself the gateway answers what it has no route for in a form of its own.
    this.fallbacks = fallbacks(corsOrigins.length > 0).map(
      ([id, routeKey]) =>
        new HttpRoute(this, id, {
          httpApi: this.api,
          routeKey,
          integration: integrationOf(DEFAULT_HANDLER),
          authorizer: new HttpIamAuthorizer(),
        }),
    );
  }

  private throttleRoutes({ routeThrottles = {} }: StoreEnvironment): void {
    const settings = GATEWAY_ROUTES.flatMap(({ method, path, operation }) => {
      const throttle = routeThrottles[operation];
      return throttle
        ? [[`${method} ${path}`, { ThrottlingRateLimit: throttle.ratePerSecond, ThrottlingBurstLimit: throttle.burst }]]
        : [];
    });
    const stage = this.stage.node.defaultChild;
    if (settings.length > 0 && stage instanceof CfnStage)
      stage.addPropertyOverride('RouteSettings', Object.fromEntries(settings));
  }

  private addDomain({ domain: wished }: StoreEnvironment): DomainName | undefined {
    if (!wished) return undefined;
    const domain = new DomainName(this, 'domain', {
      domainName: wished.name,
      certificate: Certificate.fromCertificateArn(this, 'certificate', wished.certificateArn),
      securityPolicy: SecurityPolicy.TLS_1_2,
    });
    const mapping = new ApiMapping(this, 'mapping', { api: this.api, domainName: domain, stage: this.stage });
    mapping.node.addDependency(this.stage);
    return domain;
  }

  /** May call these operations of one datastore. */
  grantCalls(grantee: IGrantable, datastore: string, operations: readonly Operation[]): Grant {
    return Grant.addToPrincipal({
      grantee,
      actions: ['execute-api:Invoke'],
      resourceArns: [...this.arnsOf(datastore, operations)],
    });
  }

  /** What a policy names to allow these operations of one datastore, or of all (`*`). */
  arnsOf(datastore: string, operations: readonly Operation[]): readonly string[] {
    return ROUTES.filter(({ operation }) => operations.includes(operation)).map(({ method, path }) =>
      this.api.arnForExecuteApi(
        method,
        path.replace('{datastore}', datastore).replaceAll(/\{\w+\}/gu, '*'),
        '$default',
      ),
    );
  }
}

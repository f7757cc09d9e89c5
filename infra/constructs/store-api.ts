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
import { acknowledgeRoutes } from './evidence.ts';
import { keptLog } from './kept-log.ts';
import type { Handler } from '../../shared/api/operation.ts';
import {
  CONSOLE_HANDLER,
  CONSOLE_ROUTES,
  DEFAULT_HANDLER,
  DEFINING_HANDLER,
  GATEWAY_ROUTES,
  ROUTES,
  type OperationName,
} from '../../shared/api/operations.ts';

export interface StoreApiProps {
  readonly environment: StoreEnvironment;
  readonly functions: Readonly<Record<Exclude<Handler, typeof DEFINING_HANDLER>, IFunction>> &
    Readonly<Partial<Record<typeof DEFINING_HANDLER, IFunction>>>;
}

/**
 * Below `/aws/vendedlogs/`: for other names API Gateway adds each log to a resource policy of the account, which holds
 * 5,120 characters.
 */
function accessLog({ name }: StoreEnvironment): string {
  return `/aws/vendedlogs/schemaless-${name}/access`;
}

/** A line for each request, without bodies. */
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

/** The CORS rules for pages of other origins. */
const CORS = {
  allowMethods: [CorsHttpMethod.GET, CorsHttpMethod.PUT, CorsHttpMethod.POST, CorsHttpMethod.DELETE],
  // A wildcard would omit `authorization`.
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

/** Routes for unknown paths, by construct id. With CORS without OPTIONS: the gateway answers preflights. */
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

export class StoreApi extends Construct {
  readonly api: HttpApi;
  readonly stage: HttpStage;
  readonly fallbacks: readonly HttpRoute[];
  readonly domain: DomainName | undefined;
  /** Resources of the console's files in a policy. */
  readonly consoleArns: readonly string[];

  constructor(scope: Construct, id: string, props: StoreApiProps) {
    super(scope, id);
    const { corsOrigins } = props.environment;
    this.api = new HttpApi(this, 'api', {
      description: 'Schemaless',
      createDefaultStage: false,
      ...(corsOrigins.length > 0 && { corsPreflight: { ...CORS, allowOrigins: [...corsOrigins] } }),
      // For any route without an authorizer.
      defaultAuthorizer: new HttpIamAuthorizer(),
    });
    const { ratePerSecond, burst } = props.environment.throttle;
    this.stage = new HttpStage(this, 'stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: ratePerSecond, burstLimit: burst },
      accessLogSettings: {
        destination: new LogGroupLogDestination(
          keptLog(this, 'access', props.environment, accessLog(props.environment)),
        ),
        format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
      },
    });
    const integrations = new Map(
      Object.entries(props.functions).map(([name, handler]) => [
        name,
        // One permission for all routes: separate ones would exceed a policy's 20 KB.
        new HttpLambdaIntegration(name, handler, { scopePermissionToRoute: false }),
      ]),
    );
    const integrationOf = (handler: Handler): HttpRouteIntegration => {
      // Without that function, another one answers that deployments manage definitions.
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
      // A stage must not name a route that does not exist yet.
      if (route.operation && props.environment.routeThrottles?.[route.operation])
        this.stage.node.addDependency(...added);
    }
    if (props.environment.console === true)
      for (const { method, path } of CONSOLE_ROUTES)
        this.api.addRoutes({ path, methods: [HttpMethod[method]], integration: integrationOf(CONSOLE_HANDLER) });
    this.consoleArns =
      props.environment.console === true
        ? CONSOLE_ROUTES.map(({ method, path }) =>
            this.api.arnForExecuteApi(method, path.replace(/\{.*/u, '*'), '$default'),
          )
        : [];
    this.throttleRoutes(props.environment);
    this.domain = this.addDomain(props.environment);
    // The gateway's own answers have another format.
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
      const throttle = operation && routeThrottles[operation];
      return throttle
        ? [[`${method} ${path}`, { ThrottlingRateLimit: throttle.ratePerSecond, ThrottlingBurstLimit: throttle.burst }]]
        : [];
    });
    const stage = this.stage.node.defaultChild;
    if (settings.length > 0 && stage instanceof CfnStage)
      stage.addPropertyOverride('RouteSettings', Object.fromEntries(settings));
  }

  private addDomain({ domain: desired }: StoreEnvironment): DomainName | undefined {
    if (!desired) return undefined;
    const domain = new DomainName(this, 'domain', {
      domainName: desired.name,
      certificate: Certificate.fromCertificateArn(this, 'certificate', desired.certificateArn),
      securityPolicy: SecurityPolicy.TLS_1_2,
    });
    const mapping = new ApiMapping(this, 'mapping', { api: this.api, domainName: domain, stage: this.stage });
    mapping.node.addDependency(this.stage);
    return domain;
  }

  /** Allows operations of one datastore, or of all (`*`). */
  grantCalls(grantee: IGrantable, datastore: string, operations: readonly OperationName[]): Grant {
    const called = ROUTES.filter(({ operation }) => operations.includes(operation));
    const resourceArns = [...this.arnsOf(datastore, called)];
    if (Construct.isConstruct(grantee)) acknowledgeRoutes(grantee, this.api, resourceArns);
    return Grant.addToPrincipal({ grantee, actions: ['execute-api:Invoke'], resourceArns });
  }

  /** Returns the resources of these routes for one datastore, or for all (`*`). */
  arnsOf(datastore: string, routes: readonly { readonly method: string; readonly path: string }[]): readonly string[] {
    return routes.map(({ method, path }) =>
      this.api.arnForExecuteApi(
        method,
        path.replace('{datastore}', datastore).replaceAll(/\{\w+\}/gu, '*'),
        '$default',
      ),
    );
  }
}

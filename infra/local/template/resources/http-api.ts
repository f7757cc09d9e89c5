import type { CorsRules } from '../../gateway/cors.ts';
import type { HttpRoute } from '../../gateway/route-table.ts';
import { type ResourceAddress, ofType } from '../template.ts';
import { physicalName, textProperty, type Context, type ResourceKind } from './resource-kind.ts';

export const HTTP_API: ResourceKind = {
  ref: physicalName,
  attribute: (_, name, { world }) => (name === 'ApiEndpoint' ? world.httpUrl : undefined),
};

/** API Gateway's default. */
const INTEGRATION_TIMEOUT_MS = 30_000;

/** Returns the HTTP API's routes with their functions and authorization. */
export function httpRoutes(resources: readonly ResourceAddress[], context: Context): readonly HttpRoute[] {
  const integrations = new Map(
    ofType(resources, 'AWS::ApiGatewayV2::Integration').map((address) => [
      `integrations/${physicalName(address)}`,
      address,
    ]),
  );
  return ofType(resources, 'AWS::ApiGatewayV2::Route').map((route) => {
    const target = textProperty(context, route, 'Target');
    const integration = integrations.get(target);
    if (!integration)
      throw new Error(`${route.logicalId}.Target: wanted an integration of the template, got ${target}`);
    return {
      routeKey: textProperty(context, route, 'RouteKey'),
      functionArn: textProperty(context, integration, 'IntegrationUri'),
      timeoutMs: Number(context.property(integration, 'TimeoutInMillis') ?? INTEGRATION_TIMEOUT_MS),
      authorization: authorizationOf(route, context),
      apiId: textProperty(context, route, 'ApiId'),
    };
  });
}

function authorizationOf(route: ResourceAddress, context: Context): HttpRoute['authorization'] {
  const type = context.property(route, 'AuthorizationType') ?? 'NONE';
  if (type === 'AWS_IAM' || type === 'NONE') return type;
  throw new Error(`${route.logicalId}.AuthorizationType: wanted AWS_IAM or NONE, got ${JSON.stringify(type)}`);
}

/** Undefined if the API has no rules. */
export function corsRules(resources: readonly ResourceAddress[], context: Context): CorsRules | undefined {
  const [api] = ofType(resources, 'AWS::ApiGatewayV2::Api');
  const configured = api && context.property(api, 'CorsConfiguration');
  if (configured === undefined) return undefined;
  const { AllowOrigins, AllowMethods, AllowHeaders, ExposeHeaders, MaxAge, ...others } = Object(configured) as Readonly<
    Record<string, unknown>
  >;
  if (Object.keys(others).length > 0)
    throw new Error(
      `${api?.logicalId}.CorsConfiguration: wanted nothing of what is not done here, got ${JSON.stringify(others)}`,
    );
  const list = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
  return {
    origins: list(AllowOrigins),
    methods: list(AllowMethods),
    headers: list(AllowHeaders),
    exposed: list(ExposeHeaders),
    maxAgeSeconds: MaxAge === undefined ? undefined : Number(MaxAge),
  };
}

import { describe, expect, it } from 'vitest';
import { httpRoutes } from '../../../../../infra/local/template/resources/http-api.ts';
import { localResources } from '../../../../../infra/local/template/resources/local-resources.ts';

/** The routes of a template with one for each of these authorization types. */
function routesWith(...types: readonly (string | undefined)[]) {
  const integration = { Type: 'AWS::ApiGatewayV2::Integration', Properties: { IntegrationUri: 'arn:read-cells' } };
  const routes = types.map((type, position) => {
    const target = { 'Fn::Join': ['', ['integrations/', { Ref: 'ReadCells' }]] };
    return [
      `Route${position}`,
      {
        Type: 'AWS::ApiGatewayV2::Route',
        Properties: {
          ApiId: 'api',
          RouteKey: `GET /${position}`,
          Target: target,
          ...(type !== undefined && { AuthorizationType: type }),
        },
      },
    ] as const;
  });
  const template = { Resources: { ReadCells: integration, ...Object.fromEntries(routes) } };
  const { resources, context } = localResources([{ name: 'service', folder: '/nowhere', template }], {
    groups: [],
    httpUrl: '',
    sqsUrl: '',
  });
  return httpRoutes(resources, context);
}

describe('the routes of the template', () => {
  it('are for those for whom it says', () => {
    expect(routesWith('AWS_IAM', 'NONE', undefined)).toEqual([
      { routeKey: 'GET /0', functionArn: 'arn:read-cells', timeoutMs: 30_000, apiId: 'api', authorization: 'AWS_IAM' },
      { routeKey: 'GET /1', functionArn: 'arn:read-cells', timeoutMs: 30_000, apiId: 'api', authorization: 'NONE' },
      { routeKey: 'GET /2', functionArn: 'arn:read-cells', timeoutMs: 30_000, apiId: 'api', authorization: 'NONE' },
    ]);
  });

  it('are refused with an authorizer that is not known here, rather than left open', () => {
    expect(() => routesWith('AWS_IAM', 'JWT')).toThrow('Route1.AuthorizationType: wanted AWS_IAM or NONE, got "JWT"');
  });
});

import { HttpApi, HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { ROUTES, type Operation, type Route } from '../../shared/api/routes.ts';

export interface StoreApiProps {
  /** The functions that answer, by the `handler` of the routes. */
  readonly functions: Readonly<Record<Route['handler'], IFunction>>;
}

/** The HTTP API: the routes of `shared/api/routes.ts`, each only for who is allowed by IAM to call it. */
export class StoreApi extends Construct {
  readonly api: HttpApi;

  constructor(scope: Construct, id: string, props: StoreApiProps) {
    super(scope, id);
    this.api = new HttpApi(this, 'api', {
      description: 'Schemaless',
      // For any route added without saying so.
      defaultAuthorizer: new HttpIamAuthorizer(),
    });
    const integrations = new Map(
      Object.entries(props.functions).map(([name, handler]) => [
        name,
        // One permission for all routes of a function: with one each, its policy would outgrow 20 KB.
        new HttpLambdaIntegration(name, handler, { scopePermissionToRoute: false }),
      ]),
    );
    for (const route of ROUTES) {
      const integration = integrations.get(route.handler);
      if (!integration) throw new Error(`${route.operation}: wanted a function ${route.handler}, got none`);
      this.api.addRoutes({ path: route.path, methods: [HttpMethod[route.method]], integration });
    }
  }

  /** May call these operations of one datastore. */
  grantCalls(grantee: IGrantable, datastore: string, operations: readonly Operation[]): Grant {
    const called = ROUTES.filter(({ operation }) => operations.includes(operation));
    return Grant.addToPrincipal({
      grantee,
      actions: ['execute-api:Invoke'],
      resourceArns: called.map(({ method, path }) => this.api.arnForExecuteApi(method, path.replace('{datastore}', datastore).replaceAll(/\{\w+\}/gu, '*'), '$default')),
    });
  }
}

import { CfnOutput } from 'aws-cdk-lib';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { ROUTES, withHeads } from '../../shared/api/operations.ts';
import { acknowledgeRoutes } from './evidence.ts';
import type { Caller } from '../../shared/api/operation.ts';
import type { StoreApi } from './store-api.ts';

type Routes = Parameters<StoreApi['arnsOf']>[1];

/** Unlike a grant to a program, a policy allows HEAD. */
function routesFor(caller: Caller): Routes {
  return withHeads(ROUTES.filter(({ mayCall }) => mayCall.includes(caller)));
}

/** Policies for callers: `readers`, `clients-NAME` (one datastore), `movers`, `erasers`, `operators` (all). */
export class CallerPolicies extends Construct {
  readonly arns: Readonly<Record<string, CfnOutput>>;

  constructor(scope: Construct, id: string, environment: string, api: StoreApi, datastores: readonly string[]) {
    super(scope, id);
    const arns: Record<string, CfnOutput> = {};
    this.arns = arns;
    const add = (name: string, does: string, routes: Routes, datastore = '*'): void => {
      // Clients of one datastore are programs, which need no console.
      const resources = [...api.arnsOf(datastore, routes), ...(datastore === '*' ? api.consoleArns : [])];
      acknowledgeRoutes(this, api.api, resources);
      const policy = new ManagedPolicy(this, name, {
        description: `Schemaless (${environment}): ${does}`,
        statements: [new PolicyStatement({ actions: ['execute-api:Invoke'], resources })],
      });
      const description = `For who ${does}`;
      arns[name] = new CfnOutput(this, `${name}-arn`, { value: policy.managedPolicyArn, description });
    };
    add('readers', 'reads every datastore', routesFor('readers'));
    for (const name of datastores)
      add(`clients-${name}`, `reads and writes datastore ${name}`, routesFor('clients'), name);
    add('movers', 'moves shards between groups', routesFor('movers'));
    add('erasers', 'erases cells and forgets subjects', routesFor('erasers'));
    // A list of all would exceed the size of a policy.
    add('operators', 'operates the store', [{ method: 'ANY', path: '/v1/{all}' }]);
  }
}

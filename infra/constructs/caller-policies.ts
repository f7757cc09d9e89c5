import { CfnOutput } from 'aws-cdk-lib';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { operationsFor, ROUTES, type OperationName } from '../../shared/api/operations.ts';
import { acknowledgeRoutes } from './evidence.ts';
import type { StoreApi } from './store-api.ts';

/** Policies for callers: `readers`, `clients-NAME` (one datastore), `movers`, `erasers`, `operators` (all). */
export class CallerPolicies extends Construct {
  readonly arns: Readonly<Record<string, CfnOutput>>;

  constructor(scope: Construct, id: string, environment: string, api: StoreApi, datastores: readonly string[]) {
    super(scope, id);
    const arns: Record<string, CfnOutput> = {};
    this.arns = arns;
    const add = (name: string, does: string, operations: readonly OperationName[], datastore = '*'): void => {
      // Clients of one datastore are programs, which need no console.
      const resources = [...api.arnsOf(datastore, operations), ...(datastore === '*' ? api.consoleArns : [])];
      acknowledgeRoutes(this, api.api, resources);
      const policy = new ManagedPolicy(this, name, {
        description: `Schemaless (${environment}): ${does}`,
        statements: [new PolicyStatement({ actions: ['execute-api:Invoke'], resources })],
      });
      const description = `For who ${does}`;
      arns[name] = new CfnOutput(this, `${name}-arn`, { value: policy.managedPolicyArn, description });
    };
    const all = ROUTES.map(({ operation }) => operation);
    add('readers', 'reads every datastore', operationsFor('readers'));
    for (const name of datastores)
      add(`clients-${name}`, `reads and writes datastore ${name}`, operationsFor('clients'), name);
    add('movers', 'moves shards between groups', operationsFor('movers'));
    add('erasers', 'erases cells and forgets subjects', operationsFor('erasers'));
    add('operators', 'operates the store', all);
  }
}

import { CfnOutput } from 'aws-cdk-lib';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { operationsFor, ROUTES, type OperationName } from '../../shared/api/operations.ts';
import type { StoreEnvironment } from './store-environment.ts';
import { acknowledgeRoutes } from './evidence.ts';
import type { StoreApi } from './store-api.ts';

interface CallerPoliciesProps {
  readonly environment: StoreEnvironment;
  readonly api: StoreApi;
  readonly datastores: readonly string[];
}

/** Policies for callers: `readers`, `clients-NAME` (one datastore), `movers`, `erasers`, `operators` (all). */
export class CallerPolicies extends Construct {
  readonly arns: Readonly<Record<string, CfnOutput>>;

  constructor(scope: Construct, id: string, { environment, api, datastores }: CallerPoliciesProps) {
    super(scope, id);
    const add = (
      name: string,
      description: string,
      datastore: string,
      operations: readonly OperationName[],
      isPerson = true,
    ): Readonly<Record<string, CfnOutput>> => {
      const arns = [...api.arnsOf(datastore, operations), ...(isPerson ? api.consoleArns : [])];
      acknowledgeRoutes(this, api.api, arns);
      const policy = new ManagedPolicy(this, name, {
        description: `Schemaless (${environment.name}): ${description}`,
        statements: [new PolicyStatement({ actions: ['execute-api:Invoke'], resources: [...arns] })],
      });
      return {
        [name]: new CfnOutput(this, `${name}-arn`, {
          value: policy.managedPolicyArn,
          description: `For who ${description}`,
        }),
      };
    };
    this.arns = {
      ...add('readers', 'reads every datastore', '*', operationsFor('readers')),
      ...Object.assign(
        {},
        ...datastores.map((datastore) =>
          add(
            `clients-${datastore}`,
            `reads and writes datastore ${datastore}`,
            datastore,
            operationsFor('clients'),
            false,
          ),
        ),
      ),
      ...add('movers', 'moves shards between groups', '*', operationsFor('movers')),
      ...add('erasers', 'erases cells and forgets subjects', '*', operationsFor('erasers')),
      ...add(
        'operators',
        'operates the store',
        '*',
        ROUTES.map(({ operation }) => operation),
      ),
    };
  }
}

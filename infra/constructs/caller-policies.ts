import { CfnOutput } from 'aws-cdk-lib';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { ROUTES, type Operation } from '../../shared/api/routes.ts';
import type { StoreEnvironment } from './store-environment.ts';
import { acknowledgeRoutes } from './evidence.ts';
import type { StoreApi } from './store-api.ts';

/** Operations that change nothing. */
export const READS = [
  'getCell',
  'getLatestCell',
  'listVersions',
  'getRow',
  'batchGet',
  'batchRead',
  'readShardLog',
  'readLog',
  'digestLog',
  'listShards',
  'listIndexes',
  'queryIndex',
  'countEntries',
  'batchQuery',
  'listTriggers',
  'getTrigger',
  'listParkedCells',
  'listDeadMessages',
  'getBuffer',
  'listBufferConflicts',
  'listUndecidedWrites',
  'getHealth',
  'getOpenApi',
] as const satisfies readonly Operation[];

/** An application's operations on its datastore. */
export const CLIENT = [
  'putCell',
  'batchPut',
  'getCell',
  'getLatestCell',
  'listVersions',
  'getRow',
  'batchGet',
  'batchRead',
  'readShardLog',
  'readLog',
  'digestLog',
  'listShards',
  'listIndexes',
  'queryIndex',
  'countEntries',
  'batchQuery',
] as const satisfies readonly Operation[];

/** Operations to move shards. */
export const MOVES = [
  'listMoves',
  'createMove',
  'getMove',
  'switchMove',
  'reverseMove',
  'completeMove',
  'cancelMove',
  'verifyMove',
  'listShards',
  'getBuffer',
  'getHealth',
] as const satisfies readonly Operation[];

/** Operations to erase and forget, and to prove it. */
export const ERASURES = [
  'eraseCells',
  'listErasures',
  'getErasure',
  'getRetention',
  'forgetSubject',
  'listForgotten',
] as const satisfies readonly Operation[];

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
      operations: readonly Operation[],
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
      ...add('readers', 'reads every datastore', '*', READS),
      ...Object.assign(
        {},
        ...datastores.map((datastore) =>
          add(`clients-${datastore}`, `reads and writes datastore ${datastore}`, datastore, CLIENT, false),
        ),
      ),
      ...add('movers', 'moves shards between groups', '*', MOVES),
      ...add('erasers', 'erases cells and forgets subjects', '*', ERASURES),
      ...add(
        'operators',
        'operates the store',
        '*',
        ROUTES.map(({ operation }) => operation),
      ),
    };
  }
}

import { createHash } from 'node:crypto';
import { CustomResource, Duration, Lazy, Stack } from 'aws-cdk-lib';
import { CfnFunction, Function as LambdaFunction, type Code } from 'aws-cdk-lib/aws-lambda';
import { Provider } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import type { Definitions, SealedFields } from '../../shared/definitions/definitions.ts';
import { canSeal, type StoreEnvironment } from './store-environment.ts';
import { acknowledge, acknowledgeLambdaPolicies, acknowledgeVersions } from './evidence.ts';
import { keptLog } from './kept-log.ts';
import type { SchemalessStorage } from './storage.ts';
import { MIGRATE_ITEMS } from './granted-items.ts';
import { StoreFunction } from './store-function.ts';
import type { TriggerQueue } from './trigger-queue.ts';
import { Worker } from './worker.ts';

interface MigrationProps {
  readonly storage: SchemalessStorage;
  readonly definitions: () => Definitions;
  readonly triggers: () => readonly TriggerQueue[];
  readonly code: Code;
}

/** A custom resource that applies changed definitions: `onEvent` starts, `isComplete` continues the work. */
export class Migration extends Construct {
  readonly resource: CustomResource;

  constructor(scope: Construct, id: string, props: MigrationProps) {
    super(scope, id);
    const { storage, definitions, triggers, code } = props;
    const { environment } = storage;
    const onEvent = new Worker(this, 'onEvent', environment, {
      description: 'Schemaless: starts a migration',
      handler: 'index.onEvent',
      code,
      timeout: Duration.minutes(1),
      memorySize: 256,
    });
    const isComplete = addWork(this, props);
    const provider = new Provider(this, 'provider', {
      onEventHandler: onEvent,
      isCompleteHandler: isComplete,
      queryInterval: Duration.seconds(10),
      // A number of calls: `isComplete` ends earlier, by the clock.
      totalTimeout: Duration.minutes(55),
      // Otherwise their first calls create log groups that conflict with the deployment's.
      logGroup: keptLog(this, 'framework', environment),
    });
    acknowledgeLambdaPolicies(provider);
    const inside = ['framework-isComplete', 'framework-onTimeout'].map((name) => provider.node.findChild(name));
    for (const called of [onEvent, isComplete, ...inside.filter((child) => child instanceof LambdaFunction)])
      acknowledgeVersions(provider, called);
    acknowledge(
      provider,
      'SF1',
      'The waiter of the provider framework logs its errors; each step that it takes is in the log of the migration',
    );
    acknowledge(
      provider,
      'SF2',
      'The waiter of the provider framework calls one function again and again until the work is done; the log of that function has each step',
    );
    this.resource = new CustomResource(this, 'resource', {
      resourceType: 'Custom::SchemalessMigration',
      serviceToken: provider.serviceToken,
      properties: {
        Groups: storage.groups.map((group) => group.address),
        // JSON text keeps empty lists, numbers and names with dots.
        Datastores: Lazy.any({
          produce: () =>
            definitions().datastores.map(({ name, shards, sealed, indexes, retention }) => ({
              name,
              shards,
              ...(sealed && { sealed: sealedText(environment, name, sealed) }),
              indexes: JSON.stringify(indexes),
              ...(retention && { retention: JSON.stringify(retention) }),
              triggers: Stack.of(this).toJsonString(
                triggers()
                  .filter(({ datastore }) => datastore === name)
                  .map(({ deployed }) => deployed),
              ),
            })),
        }),
        Revision: Lazy.string({ produce: () => revisionOf(onEvent, definitions()) }),
      },
    });
  }
}

/** Context key: a new text makes the migration run again. */
const RUN_AGAIN = 'schemaless:migrate';

/** Throws an Error if functions could not reach the keys. */
function sealedText(environment: StoreEnvironment, name: string, sealed: readonly SealedFields[]): string {
  if (!canSeal(environment))
    throw new Error(
      `${environment.name}.sealsFields: wanted true, since ${name} has sealed fields: functions reach the root key by an endpoint of its own`,
    );
  return JSON.stringify(sealed);
}

function addWork(scope: Construct, { storage, code }: MigrationProps): StoreFunction {
  const work = new StoreFunction(scope, 'isComplete', {
    storage,
    code,
    handler: 'index.isComplete',
    description: 'Schemaless: goes on with a migration',
    databaseUser: 'owner',
    kind: 'loop',
    timeout: Duration.minutes(15),
    memorySize: 1024,
  });
  work.grantTopologyWrites();
  work.grantState(MIGRATE_ITEMS);
  // It sets the database users' passwords.
  for (const secret of Object.values(storage.userSecrets ?? {})) secret.grantRead(work);
  return work;
}

/** Changes with the migration's code, so that a new step runs in its deployment. */
function revisionOf(onEvent: LambdaFunction, definitions: Definitions): string {
  const resource = onEvent.node.defaultChild;
  const code: unknown = resource instanceof CfnFunction ? Stack.of(onEvent).resolve(resource.code) : undefined;
  // For a run without a change, as after a restore.
  const desired: unknown = onEvent.node.tryGetContext(RUN_AGAIN);
  return createHash('sha256').update(JSON.stringify({ code, definitions, desired })).digest('hex').slice(0, 16);
}

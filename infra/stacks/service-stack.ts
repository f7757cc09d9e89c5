import { join } from 'node:path';
import { App, CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import type { Code } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { AppProps } from '../app-context.ts';
import { bundleFunctions } from './bundles.ts';
import { CallerPolicies } from './caller-policies.ts';
import { startEachMinute } from './each-minute.ts';
import { Migration } from './migration.ts';
import type { StorageStack } from './storage-stack.ts';
import { addStoreAlarms } from './store-alarms.ts';
import { StoreApi } from './store-api.ts';
import { addDashboard } from './store-dashboard.ts';
import { StoreFunction, type StoreFunctionProps } from './store-function.ts';
import { startTailers } from './tailers.ts';
import { TriggerFunction } from './trigger-function.ts';
import { TriggerQueue } from './trigger-queue.ts';

export interface ServiceStackProps extends StackProps, AppProps {
  readonly storage: StorageStack;
}

/** The HTTP API gives up after 30 s, its integrations after 29. */
const API_TIMEOUT = Duration.seconds(28);

/** As long as a function may: it ends when the next one has taken over. */
const LOOP_TIMEOUT = Duration.minutes(15);

/** Files in the folder of the functions; those of the triggers come on top. */
const FUNCTIONS = [
  'write-cells',
  'read-cells',
  'query-index',
  'manage-triggers',
  'drain-buffer',
  'repair-indexes',
  'tail-shards',
  'migrate',
] as const;
type FunctionName = (typeof FUNCTIONS)[number];

/** What each deployment replaces: functions, API, queues, schedules and the migration. */
export class ServiceStack extends Stack {
  readonly api: StoreApi;
  readonly url: CfnOutput;
  readonly callers: CallerPolicies;

  constructor(scope: Construct, id: string, props: ServiceStackProps) {
    super(scope, id, props);
    const { environment, storage, definitions } = props;
    const triggers = definitions.datastores.flatMap(({ name, triggers: defined }) =>
      defined.map(
        (definition) =>
          new TriggerQueue(this, `queue-${name}-${definition.name}`, {
            datastore: name,
            definition,
            protectedFromDeletion: environment.protectedFromDeletion,
          }),
      ),
    );
    const code = this.bundle(props, triggers);
    const instances = new Map<string, number>(Object.entries(environment.instances ?? {}));
    const make = (
      name: FunctionName,
      rest: Pick<StoreFunctionProps, 'description' | 'databaseUser' | 'kind' | 'timeout' | 'memorySize'>,
    ): StoreFunction =>
      new StoreFunction(this, name, {
        environment,
        storage,
        code: code(name),
        instances: instances.get(name),
        ...rest,
      });

    const writeCells = make('write-cells', {
      description: 'Schemaless: writes cells',
      databaseUser: 'write',
      kind: 'request',
      timeout: API_TIMEOUT,
      memorySize: 1769,
    });
    const readCells = make('read-cells', {
      description: 'Schemaless: reads cells and logs',
      databaseUser: 'read',
      kind: 'request',
      timeout: API_TIMEOUT,
      memorySize: 1769,
    });
    const queryIndex = make('query-index', {
      description: 'Schemaless: finds rows by their fields',
      databaseUser: 'read',
      kind: 'request',
      timeout: API_TIMEOUT,
      memorySize: 1769,
    });
    for (const one of [writeCells, readCells, queryIndex]) one.grantOpenCircuits();
    const manageTriggers = make('manage-triggers', {
      description: 'Schemaless: shows and steers triggers',
      databaseUser: 'read',
      kind: 'request',
      timeout: API_TIMEOUT,
      memorySize: 1769,
    });
    manageTriggers.grantState();
    for (const trigger of triggers) trigger.grantManagement(manageTriggers);
    const drainBuffer = make('drain-buffer', {
      description: 'Schemaless: empties the buffer',
      databaseUser: 'write',
      kind: 'loop',
      timeout: LOOP_TIMEOUT,
      memorySize: 512,
    });
    drainBuffer.grantState();
    const repairIndexes = make('repair-indexes', {
      description: 'Schemaless: completes, builds and drops indexes',
      databaseUser: 'repair',
      kind: 'loop',
      timeout: LOOP_TIMEOUT,
      memorySize: environment.loopMemoryMb,
    });
    repairIndexes.grantState();
    // A version of an index that is complete becomes live; one whose tables were dropped is forgotten.
    repairIndexes.grantTopologyWrites();
    const tailShards = make('tail-shards', {
      description: 'Schemaless: sends cells to the queues of the triggers',
      databaseUser: 'tail',
      kind: 'loop',
      timeout: LOOP_TIMEOUT,
      memorySize: environment.loopMemoryMb,
    });

    const migration = new Migration(this, 'migration', {
      environment,
      storage,
      definitions,
      triggers,
      code: code('migrate'),
    });
    this.api = new StoreApi(this, 'http', {
      environment,
      functions: {
        'write-cells': writeCells,
        'read-cells': readCells,
        'query-index': queryIndex,
        'manage-triggers': manageTriggers,
      },
    });
    this.callers = new CallerPolicies(this, 'callers', {
      environment,
      api: this.api,
      datastores: definitions.datastores.map(({ name }) => name),
    });
    const schedules = [
      ...(environment.schedules
        ? [startEachMinute(this, 'drain', drainBuffer), startEachMinute(this, 'repair', repairIndexes)]
        : []),
      ...startTailers(this, {
        target: tailShards,
        count: environment.tailers,
        triggers,
        isStarted: environment.schedules,
      }),
    ];
    const consumers = triggers
      .filter(({ definition }) => definition.function !== undefined)
      .map(
        (trigger) =>
          new TriggerFunction(this, bundleOf(trigger), {
            environment,
            trigger,
            code: code(bundleOf(trigger)),
            tables: storage.tables,
            api: this.api,
          }),
      );
    const ofStore = [writeCells, readCells, queryIndex, manageTriggers, drainBuffer, repairIndexes, tailShards];
    // Nothing is to be drained, repaired, tailed, consumed or asked for before there are databases, nor by new code
    // before the tables and users that it needs.
    for (const part of [...ofStore, ...schedules, ...consumers, this.api]) part.node.addDependency(migration.resource);

    const called = Object.fromEntries([...ofStore, ...consumers].map((one) => [one.node.id, one] as const));
    addStoreAlarms(this, {
      environment,
      api: this.api.api,
      functions: called,
      loops: [drainBuffer, repairIndexes, ...(triggers.length > 0 ? [tailShards] : [])].map(({ node }) => node.id),
      triggers,
    });
    addDashboard(this, { environment, api: this.api.api, functions: called, groups: storage.groups, triggers });
    this.url = new CfnOutput(this, 'url', {
      value: this.api.api.apiEndpoint,
      description: 'Where the HTTP API is; requests are signed (SigV4, execute-api)',
    });
  }

  /** Bundles all functions; what it returns gives the code of one. */
  private bundle(
    { environment, definitions, functionsFolder, projectFolder }: AppProps,
    triggers: readonly TriggerQueue[],
  ): (name: string) => Code {
    const ownedHere = FUNCTIONS.map((name) => [name, join(functionsFolder, `${name}.ts`)] as const);
    const ofTriggers = triggers.flatMap((trigger) => {
      const { name, function: file } = trigger.definition;
      return file === undefined
        ? []
        : [[bundleOf(trigger), { trigger: name, file, path: join(projectFolder, file) }] as const];
    });
    const bundles = bundleFunctions({
      functions: Object.fromEntries(ownedHere),
      triggers: Object.fromEntries(ofTriggers),
      definitions,
      access: environment.access,
      proxy: environment.proxy,
      folder: join(App.of(this)?.outdir ?? 'cdk.out', `functions-${environment.name}`),
    });
    return (name) => {
      const bundle = bundles.get(name);
      if (!bundle)
        throw new Error(`functions: wanted ${name} among the bundles, got ${[...bundles.keys()].join(', ')}`);
      return bundle;
    };
  }
}

/** What the function of a trigger is called: no name of a datastore holds a hyphen, so that it is like no other. */
function bundleOf({ datastore, definition }: TriggerQueue): string {
  return `trigger-${datastore}-${definition.name}`;
}

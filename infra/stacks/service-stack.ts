import { join } from 'node:path';
import { App, CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Code } from 'aws-cdk-lib/aws-lambda';
import type { Schedule } from 'aws-cdk-lib/aws-scheduler';
import type { Construct } from 'constructs';
import { DEFINING_HANDLER } from '../../shared/api/routes.ts';
import type { AppProps } from '../app-context.ts';
import { bundleFunctions } from './bundles.ts';
import { CallerPolicies } from './caller-policies.ts';
import { startEachMinute } from './each-minute.ts';
import { Migration } from './migration.ts';
import type { StorageStack } from './storage-stack.ts';
import { addStoreAlarms } from './store-alarms.ts';
import { StoreApi } from './store-api.ts';
import { addDashboard } from './store-dashboard.ts';
import type { StoreFunction } from './store-function.ts';
import {
  addAnsweringFunctions,
  addLoopingFunctions,
  type LoopingFunctions,
  type StoreFunctionsProps,
} from './store-functions.ts';
import { startTailers } from './tailers.ts';
import { TriggerFunction } from './trigger-function.ts';
import { TriggerQueue } from './trigger-queue.ts';

export interface ServiceStackProps extends StackProps, AppProps {
  readonly storage: StorageStack;
}

/** Files in the folder of the functions; those of the triggers come on top. */
const FUNCTIONS = [
  'write-cells',
  'read-cells',
  'query-index',
  'manage-triggers',
  'define-datastores',
  'drain-buffer',
  'repair-indexes',
  'tail-shards',
  'migrate',
] as const;

/** What each deployment replaces: functions, API, queues, schedules and the migration. */
export class ServiceStack extends Stack {
  readonly api: StoreApi;
  readonly url: CfnOutput;
  readonly callers: CallerPolicies;

  constructor(scope: Construct, id: string, props: ServiceStackProps) {
    super(scope, id, props);
    const { environment, storage, definitions } = props;
    const triggers = this.addQueues(props);
    const code = this.bundle(props, triggers);
    const parts: StoreFunctionsProps = { environment, storage, code, triggers };
    const answering = addAnsweringFunctions(this, parts);
    const looping = addLoopingFunctions(this, parts);
    const migration = new Migration(this, 'migration', {
      environment,
      storage,
      definitions,
      triggers,
      code: code('migrate'),
    });
    this.api = new StoreApi(this, 'http', { environment, functions: answering });
    this.callers = new CallerPolicies(this, 'callers', {
      environment,
      api: this.api,
      datastores: definitions.datastores.map(({ name }) => name),
    });
    const schedules = this.start(looping, parts);
    const consumers = this.addConsumers(this.api, parts);
    const functions: StoreFunction[] = [...Object.values(answering), ...Object.values(looping)];
    // Nothing is to be drained, repaired, tailed, consumed or asked for before there are databases, nor by new code
    // before the tables and users that it needs.
    for (const part of [...functions, ...schedules, ...consumers, this.api])
      part.node.addDependency(migration.resource);

    const called = Object.fromEntries([...functions, ...consumers].map((one) => [one.node.id, one] as const));
    const { 'tail-shards': tailShards, ...always } = looping;
    addStoreAlarms(this, {
      environment,
      api: this.api.api,
      functions: called,
      loops: [...Object.values(always), ...(isTailed(parts) ? [tailShards] : [])].map(({ node }) => node.id),
      triggers,
    });
    addDashboard(this, { environment, api: this.api.api, functions: called, groups: storage.groups, triggers });
    this.url = new CfnOutput(this, 'url', {
      value: this.api.api.apiEndpoint,
      description: 'Where the HTTP API is; requests are signed (SigV4, execute-api)',
    });
  }

  private addQueues({ environment, definitions }: AppProps): readonly TriggerQueue[] {
    return definitions.datastores.flatMap(({ name, triggers }) =>
      triggers.map(
        (definition) =>
          new TriggerQueue(this, `queue-${name}-${definition.name}`, {
            datastore: name,
            definition,
            protectedFromDeletion: environment.protectedFromDeletion,
          }),
      ),
    );
  }

  /** Starts what runs all the time; returns the schedules. */
  private start(looping: LoopingFunctions, { environment, triggers }: StoreFunctionsProps): readonly Schedule[] {
    const { schedules, tailers: count } = environment;
    const isStarted = schedules && isTailed({ environment, triggers });
    return [
      ...(schedules
        ? [
            startEachMinute(this, 'drain', looping['drain-buffer']),
            startEachMinute(this, 'repair', looping['repair-indexes']),
          ]
        : []),
      ...startTailers(this, { environment, target: looping['tail-shards'], count, triggers, isStarted }),
    ];
  }

  /** The functions of the triggers that have one here. */
  private addConsumers(
    api: StoreApi,
    { environment, storage, code, triggers }: StoreFunctionsProps,
  ): readonly TriggerFunction[] {
    return triggers
      .filter(({ definition }) => definition.function !== undefined)
      .map((trigger) => {
        const name = bundleOf(trigger);
        return new TriggerFunction(this, name, {
          environment,
          trigger,
          code: code(name),
          tables: storage.tables,
          api,
        });
      });
  }

  /** Bundles all functions; what it returns gives the code of one. */
  private bundle(
    { environment, definitions, functionsFolder, projectFolder }: AppProps,
    triggers: readonly TriggerQueue[],
  ): (name: string) => Code {
    const isHere = (name: (typeof FUNCTIONS)[number]): boolean =>
      name !== DEFINING_HANDLER || environment.definedByApi !== undefined;
    const ownedHere = FUNCTIONS.filter(isHere).map((name) => [name, join(functionsFolder, `${name}.ts`)] as const);
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

/** Whether there are triggers, or may be. */
function isTailed({ environment, triggers }: Pick<StoreFunctionsProps, 'environment' | 'triggers'>): boolean {
  return triggers.length > 0 || environment.definedByApi !== undefined;
}

/** What the function of a trigger is called: no name of a datastore holds a hyphen, so that it is like no other. */
function bundleOf({ datastore, definition }: TriggerQueue): string {
  return `trigger-${datastore}-${definition.name}`;
}

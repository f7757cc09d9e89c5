import { join } from 'node:path';
import { App, CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { AppProps } from '../app-context.ts';
import { bundleFunctions } from './bundles.ts';
import { startEachMinute } from './each-minute.ts';
import { Migration } from './migration.ts';
import type { StorageStack } from './storage-stack.ts';
import { StoreApi } from './store-api.ts';
import { StoreFunction, type StoreFunctionProps } from './store-function.ts';

export interface ServiceStackProps extends StackProps, AppProps {
  readonly storage: StorageStack;
}

/** The HTTP API gives up after 30 s, its integrations after 29. */
const API_TIMEOUT = Duration.seconds(28);

/** What each deployment replaces: functions, API, schedules and the migration. */
export class ServiceStack extends Stack {
  readonly api: StoreApi;
  readonly url: CfnOutput;

  constructor(scope: Construct, id: string, props: ServiceStackProps) {
    super(scope, id, props);
    const { environment, storage, definitions, functionsFolder } = props;
    const bundles = bundleFunctions({
      functionsFolder,
      functions: ['write-cells', 'read-cells', 'query-index', 'drain-buffer', 'repair-indexes', 'migrate'],
      definitions,
      folder: join(App.of(this)?.outdir ?? 'cdk.out', `functions-${environment.name}`),
    });
    const code = (name: string): StoreFunctionProps['code'] => {
      const bundle = bundles.get(name);
      if (!bundle) throw new Error(`functions: wanted ${name} among the bundles, got ${[...bundles.keys()].join(', ')}`);
      return bundle;
    };
    const make = (name: string, rest: Pick<StoreFunctionProps, 'description' | 'timeout' | 'memorySize'>): StoreFunction =>
      new StoreFunction(this, name, { environment, storage, code: code(name), ...rest });

    const writeCells = make('write-cells', { description: 'Schemaless: writes cells', timeout: API_TIMEOUT, memorySize: 1769 });
    const readCells = make('read-cells', { description: 'Schemaless: reads cells and logs', timeout: API_TIMEOUT, memorySize: 1769 });
    const queryIndex = make('query-index', { description: 'Schemaless: finds rows by their fields', timeout: API_TIMEOUT, memorySize: 1769 });
    // As long as a function may: it ends when the next one has taken over.
    const drainBuffer = make('drain-buffer', { description: 'Schemaless: empties the buffer', timeout: Duration.minutes(15), memorySize: 512 });
    drainBuffer.grantState();
    const repairIndexes = make('repair-indexes', { description: 'Schemaless: completes, builds and drops indexes', timeout: Duration.minutes(15), memorySize: 1769 });
    repairIndexes.grantState();
    // A version of an index that is complete becomes live; one whose tables were dropped is forgotten.
    repairIndexes.grantTopologyWrites();

    const migration = new Migration(this, 'migration', { environment, storage, definitions, code: code('migrate') });
    this.api = new StoreApi(this, 'http', { functions: { 'write-cells': writeCells, 'read-cells': readCells, 'query-index': queryIndex } });
    const schedules = [startEachMinute(this, 'drain', drainBuffer), startEachMinute(this, 'repair', repairIndexes)];
    // Nothing is to be drained, repaired or asked for before there are databases.
    for (const schedule of schedules) schedule.node.addDependency(migration.resource);
    this.api.node.addDependency(migration.resource);

    this.url = new CfnOutput(this, 'url', { value: this.api.api.apiEndpoint, description: 'Where the HTTP API is; requests are signed (SigV4, execute-api)' });
  }
}

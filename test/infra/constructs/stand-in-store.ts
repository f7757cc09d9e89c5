import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { SchemalessStore, type SchemalessStoreProps } from '../../../infra/constructs/index.ts';
import { loadAssembly } from '../../../infra/local/template/synthesize.ts';
import type { LoadedStack } from '../../../infra/local/template/template.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

export const TRIPS = [{ datastore: 'trips', shards: 16 }] as const;

export interface StandInApp extends Disposable {
  readonly folder: string;
  readonly stack: Stack;
  readonly code: Code;
  /** A store of `TRIPS` by default. */
  store(props?: Partial<SchemalessStoreProps>, id?: string): SchemalessStore;
  lambda(id: string, timeout?: Duration): LambdaFunction;
  synthesized(): readonly LoadedStack[];
}

/** @param account of the stack, for lookups in it */
export function standInApp(account?: string): StandInApp {
  const folder = temporaryFolder();
  const functions = join(folder.path, 'functions');
  mkdirSync(functions);
  writeFileSync(join(functions, 'index.mjs'), 'export const handler = async () => undefined;\n');
  const app = new App({
    outdir: join(folder.path, 'cdk.out'),
    builtinCloudFormationValidation: false,
    analyticsReporting: false,
    treeMetadata: false,
  });
  const env = account === undefined ? {} : { env: { account, region: 'eu-west-1' } };
  const stack = new Stack(app, 'Shop', env);
  const code = Code.fromAsset(functions);
  return {
    folder: folder.path,
    stack,
    code,
    store: (props = {}, id = 'Store') =>
      new SchemalessStore(stack, id, { datastores: TRIPS, code: { own: () => Code.fromAsset(functions) }, ...props }),
    lambda: (id, timeout = Duration.minutes(5)) =>
      new LambdaFunction(stack, id, { code, handler: 'index.handler', runtime: Runtime.NODEJS_24_X, timeout }),
    synthesized: () => {
      app.synth();
      return loadAssembly(app.outdir);
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

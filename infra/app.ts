import { join } from 'node:path';
import { Annotations, App, Token, type Environment } from 'aws-cdk-lib';
import { VERSION } from '../shared/version.ts';
import { CONTEXT_KEYS, readAppContext } from './app-context.ts';
import { VERSION_TAG } from './constructs/store-environment.ts';
import type { EnvironmentProps } from './environments.ts';
import { bundledFromSource } from './stacks/bundled-from-source.ts';
import { ServiceStack, StorageStack } from './stacks/stacks.ts';

/**
 * Fills an app with one environment. One stack holds what must outlive every deployment (clusters, tables), another
 * what each deployment replaces (functions, API, schedules).
 *
 * The environment and its parts come from the app's context, see `AppContext`. Throws an `Error` that names the wrong
 * key, or lists every problem of the datastores' definitions.
 *
 * @param changed overrides of `environments.ts`, to preview their effect
 * @param codeOf gives the code of the functions
 */
export function buildApp(
  app: App,
  changed: Partial<EnvironmentProps> = {},
  codeOf: typeof bundledFromSource = bundledFromSource,
): { storage: StorageStack; service: ServiceStack } {
  const context = Object.fromEntries(CONTEXT_KEYS.map((key): [string, unknown] => [key, app.node.tryGetContext(key)]));
  const read = readAppContext(context, (warning) =>
    Annotations.of(app).addWarningV2('schemaless:definitions', warning),
  );
  const { definitions, alarmEmail } = read;
  const environment: EnvironmentProps = { ...read.environment, ...changed };
  const code = codeOf({ ...read, environment }, join(app.outdir, `functions-${environment.name}`));
  // CloudFormation hands a stack's tags to all of its resources.
  const tags = { [VERSION_TAG]: VERSION };

  const env = environmentOf(environment);

  const storage = new StorageStack(app, `Schemaless-${environment.name}-storage`, {
    environment,
    alarmEmail,
    code,
    env,
    tags,
    terminationProtection: environment.protectedFromDeletion,
    description: `Schemaless (${environment.name}): clusters and tables`,
  });
  const service = new ServiceStack(app, `Schemaless-${environment.name}-service`, {
    environment,
    env,
    definitions,
    code,
    storage: storage.storage,
    tags,
    terminationProtection: environment.protectedFromDeletion,
    description: `Schemaless (${environment.name}): functions, API, queues and schedules`,
  });
  return { storage, service };
}

/** Stacks that name their account are refused by any other. */
function environmentOf({ account, region }: EnvironmentProps): Environment {
  return { ...(account !== undefined && { account }), ...(region !== undefined && { region }) };
}

/** Throws an Error if a protected environment names no account or region: any profile could deploy another one. */
export function checkBinding({ storage, account, region }: StorageStack): void {
  const { name, protectedFromDeletion } = storage.environment;
  if (!protectedFromDeletion || ![account, region].some((one) => Token.isUnresolved(one))) return;
  const got = [account, region].map((one) => (Token.isUnresolved(one) ? 'none' : one));
  throw new Error(
    `${name}: wanted the account and the region that its data stays in, got ${got.join(' and ')}. Set them in infra/environments.ts, or add -c account=123456789012 -c region=eu-west-1`,
  );
}

if (import.meta.main) {
  const app = new App();
  checkBinding(buildApp(app).storage);
  // The rules take a second to load, and are for what is deployed.
  if (app.node.tryGetContext('environment') !== 'local') {
    const { checkAwsSolutions } = await import('./nag.ts');
    checkAwsSolutions(app);
  }
  app.synth();
}

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { PROJECT_ROOT, type AppContext } from '../../../infra/app-context.ts';
import { buildApp } from '../../../infra/app.ts';
import { managedOf } from '../../../infra/capacity/plan.ts';
import { ENVIRONMENTS, type EnvironmentProps } from '../../../infra/environments.ts';
import { loadAssembly } from '../../../infra/local/template/synthesize.ts';
import { createResolver, type Resolver } from '../../../infra/local/template/resolver.ts';
import type { LoadedStack, TemplateResource } from '../../../infra/local/template/template.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Changes of `prod` that run its busy functions on managed instances. */
export const MANAGED_PROD = {
  ...managedOf(ENVIRONMENTS.prod),
  canaryMinutes: undefined,
} as unknown as EnvironmentProps;

export const STAND_INS = join(import.meta.dirname, 'functions');

/** The folder that the stand-ins of triggers' functions are given from: `functions/charge-rider.ts`. */
export const STAND_IN_PROJECT = import.meta.dirname;

interface Changes {
  /** Overrides of the environment in `environments.ts`. */
  readonly environment?: Partial<EnvironmentProps>;
  /** Adds to the stacks. @default nothing is added */
  readonly add?: (stacks: ReturnType<typeof buildApp>) => void;
  /** Gives the code of the functions. @default the stand-ins are bundled */
  readonly codeOf?: Parameters<typeof buildApp>[2];
}

/** Synthesizes the app in process with stand-in functions, with the settings of cdk.json but for the slow rules. */
export function synthesized(
  folder: string,
  context: AppContext,
  { environment, add, codeOf }: Changes = {},
): readonly LoadedStack[] {
  const settings: { readonly context: object } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'cdk.json'), 'utf8'));
  const app = new App({
    outdir: folder,
    context: { ...settings.context, 'aws:cdk:enable-asset-metadata': true, functions: STAND_INS, ...context },
    builtinCloudFormationValidation: false,
    analyticsReporting: false,
    treeMetadata: false,
  });
  const stacks = buildApp(app, environment, codeOf);
  add?.(stacks);
  app.synth();
  return loadAssembly(folder);
}

/** A synthesized app, held in memory: its folder is gone, and its functions were not bundled. */
interface SynthesizedApp {
  readonly stacks: readonly LoadedStack[];
  /** The text of its manifest, and of the metadata of its stacks, by file name. */
  readonly texts: ReadonlyMap<string, string>;
}

const apps = new Map<string, SynthesizedApp>();
const notBundled = { own: () => Code.fromAsset(STAND_INS), ofTrigger: () => Code.fromAsset(STAND_INS) };

/**
 * Synthesizes the app once for each context and change of its environment. The test files of a worker share the result,
 * so none may change it.
 */
export function appOf(context: AppContext, environment: Partial<EnvironmentProps> = {}): SynthesizedApp {
  const key = JSON.stringify([context, environment]);
  const known = apps.get(key);
  if (known) return known;
  using folder = temporaryFolder();
  const stacks = synthesized(folder.path, context, { environment, codeOf: () => notBundled });
  const names = globSync('{manifest,*.metadata}.json', { cwd: folder.path });
  const texts = new Map(names.map((name) => [name, readFileSync(join(folder.path, name), 'utf8')]));
  const app = { stacks, texts };
  apps.set(key, app);
  return app;
}

export function resourcesOf(stacks: readonly LoadedStack[], type: string): readonly TemplateResource[] {
  return stacks
    .flatMap(({ template }) => Object.values(template.Resources))
    .filter((resource) => resource.Type === type);
}

export function propertiesOf(
  stacks: readonly LoadedStack[],
  type: string,
): readonly Readonly<Record<string, unknown>>[] {
  return resourcesOf(stacks, type).map(({ Properties }) => Properties ?? {});
}

/** Works out properties, in which a resource is its logical id, and an attribute of it that and the attribute. */
export function resolvedByName(stacks: readonly LoadedStack[]): Resolver {
  return createResolver(stacks, {
    ref: ({ logicalId }) => logicalId,
    attribute: ({ logicalId }, name) => (name.endsWith('Port') ? '3306' : `${logicalId}.${name}`),
    secret: () => '',
  });
}

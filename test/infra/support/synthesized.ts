import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { PROJECT_ROOT, type AppContext } from '../../../infra/app-context.ts';
import { buildApp } from '../../../infra/app.ts';
import type { EnvironmentProps } from '../../../infra/environments.ts';
import { loadAssembly } from '../../../infra/local/template/load-assembly.ts';
import { createResolver, type Resolver } from '../../../infra/local/template/resolver.ts';
import type { LoadedStack, TemplateResource } from '../../../infra/local/template/template.ts';

/** Small functions that stand in for the real ones. */
export const STAND_INS = join(import.meta.dirname, 'functions');

/** The folder that the stand-ins of triggers' functions are given from: `functions/charge-rider.ts`. */
export const STAND_IN_PROJECT = import.meta.dirname;

export interface Changes {
  /** What the environment is to have otherwise than `environments.ts` says. @default nothing */
  readonly environment?: Partial<EnvironmentProps>;
  /** Adds to the stacks. @default nothing is added */
  readonly add?: (stacks: ReturnType<typeof buildApp>) => void;
}

/** Synthesizes the app in process with stand-in functions, with the settings of cdk.json but for the slow rules. */
export function synthesized(
  folder: string,
  context: AppContext,
  { environment, add }: Changes = {},
): readonly LoadedStack[] {
  const settings: { readonly context: object } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'cdk.json'), 'utf8'));
  const fast = { '@aws-cdk/core:validateAgainstDefaultRules': false, 'aws:cdk:enable-asset-metadata': true };
  const app = new App({
    outdir: folder,
    context: { ...settings.context, ...fast, functions: STAND_INS, ...context },
    analyticsReporting: false,
    treeMetadata: false,
  });
  const stacks = buildApp(app, environment);
  add?.(stacks);
  app.synth();
  return loadAssembly(folder);
}

/** The resources of one type in all stacks. */
export function resourcesOf(stacks: readonly LoadedStack[], type: string): readonly TemplateResource[] {
  return stacks
    .flatMap(({ template }) => Object.values(template.Resources))
    .filter((resource) => resource.Type === type);
}

/** The properties of the resources of one type in all stacks. */
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

import { join } from 'node:path';
import { CONSOLE_HANDLER, DEFINING_HANDLER } from '../../shared/api/routes.ts';
import { PROJECT_ROOT, type AppProps } from '../app-context.ts';
import { packPage } from '../console/pack-page.ts';
import { STORE_FUNCTIONS, type FunctionCode, type StoreFunctionName } from '../constructs/function-code.ts';
import { triggerFunctionName } from '../constructs/trigger-function.ts';
import { bundleFunctions, type BundledTrigger } from './bundles.ts';

/** Beside what Node compiled: both are there until packages are installed anew. */
const KEPT_BUNDLES = join(PROJECT_ROOT, 'node_modules/.cache/bundles');

/** The functions as their source is now, those of the triggers included, bundled into a folder. */
export function bundledFromSource(
  { environment, definitions, functionsFolder, projectFolder }: AppProps,
  folder: string,
): FunctionCode {
  // No environment of this project is exported by a schedule.
  const { [DEFINING_HANDLER]: defining, 'export-cells': _, preflight, ...always } = storeFunctionsIn(functionsFolder);
  const bundles = bundleFunctions({
    functions: {
      ...always,
      ...(environment.definedByApi && { [DEFINING_HANDLER]: defining }),
      // One machine is no account that could be asked.
      ...(environment.name !== 'local' && { preflight }),
    },
    triggers: Object.fromEntries(
      definitions.datastores.flatMap(({ name: datastore, triggers }) =>
        triggers.flatMap((definition): readonly (readonly [string, BundledTrigger])[] => {
          const { name: trigger, function: file } = definition;
          if (file === undefined) return [];
          return [[triggerFunctionName({ datastore, definition }), { trigger, file, path: join(projectFolder, file) }]];
        }),
      ),
    ),
    ...(environment.console === true && { beside: { [CONSOLE_HANDLER]: packPage() } }),
    access: environment.access,
    proxy: environment.proxy,
    folder,
    // What is deployed is bundled anew.
    ...(environment.name === 'local' && { keptIn: KEPT_BUNDLES }),
  });
  const codeOf = (name: string) => {
    const bundle = bundles.get(name);
    if (!bundle) throw new Error(`functions: wanted ${name} among the bundles, got ${[...bundles.keys()].join(', ')}`);
    return bundle;
  };
  return { own: codeOf, ofTrigger: codeOf };
}

/** The files of the store's functions, by their names. */
export function storeFunctionsIn(folder: string): Readonly<Record<StoreFunctionName, string>> {
  const files = STORE_FUNCTIONS.map((name) => [name, join(folder, `${name}.ts`)]);
  return Object.fromEntries(files) as Record<StoreFunctionName, string>;
}

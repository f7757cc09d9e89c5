import { join } from 'node:path';
import { CONSOLE_HANDLER, DEFINING_HANDLER } from '../../shared/api/operations.ts';
import { PROJECT_ROOT, type AppProps } from '../app-context.ts';
import { packPage } from '../console/pack-page.ts';
import { STORE_FUNCTIONS, type FunctionCode, type StoreFunctionName } from '../constructs/function-code.ts';
import { triggerFunctionName } from '../constructs/connect-consumer.ts';
import { bundleFunctions, type BundledTrigger } from './bundles.ts';

/** Next to Node's compile cache, until packages are installed again. */
const KEPT_BUNDLES = join(PROJECT_ROOT, 'node_modules/.cache/bundles');

/** Bundles the functions' current source, with those of triggers. */
export function bundledFromSource(
  { environment, definitions, functionsFolder, projectFolder }: AppProps,
  folder: string,
): FunctionCode {
  // No environment of this project has an export.
  const { [DEFINING_HANDLER]: defining, 'export-cells': _, preflight, ...always } = storeFunctionsIn(functionsFolder);
  const bundles = bundleFunctions({
    functions: {
      ...always,
      ...(environment.definedByApi && { [DEFINING_HANDLER]: defining }),
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
    ...(environment.console === true && { alongside: { [CONSOLE_HANDLER]: packPage() } }),
    access: environment.access,
    proxy: environment.proxy,
    folder,
    // Deployments always rebuild the bundles.
    ...(environment.name === 'local' && { keptIn: KEPT_BUNDLES }),
  });
  const codeOf = (name: string) => {
    const bundle = bundles.get(name);
    if (!bundle) throw new Error(`functions: wanted ${name} among the bundles, got ${[...bundles.keys()].join(', ')}`);
    return bundle;
  };
  return { own: codeOf, ofTrigger: codeOf };
}

export function storeFunctionsIn(folder: string): Readonly<Record<StoreFunctionName, string>> {
  const files = STORE_FUNCTIONS.map((name) => [name, join(folder, `${name}.ts`)]);
  return Object.fromEntries(files) as Record<StoreFunctionName, string>;
}

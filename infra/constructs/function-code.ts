import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { VERSION } from '../../shared/version.ts';
import type { StoreEnvironment } from './store-environment.ts';

/** The files of the store's functions; those of triggers come on top. */
export const STORE_FUNCTIONS = [
  'write-cells',
  'read-cells',
  'query-index',
  'manage-triggers',
  'manage-moves',
  'erase-cells',
  'define-datastores',
  'drain-buffer',
  'repair-indexes',
  'move-shards',
  'tail-shards',
  'export-cells',
  'migrate',
  'preflight',
  'rotate-passwords',
] as const;
export type StoreFunctionName = (typeof STORE_FUNCTIONS)[number];

/** What functions run: bundled at each synthesis from their source, or ready made. */
export interface FunctionCode {
  own(name: StoreFunctionName): Code;
  /**
   * Of the file that a trigger's definition names, by `triggerFunctionName`.
   *
   * @default there is none: whoever writes the app gives the functions of its triggers
   */
  readonly ofTrigger?: (name: string) => Code;
}

/** What decides which bundle of a function fits. */
export type BundledWay = Pick<StoreEnvironment, 'access' | 'proxy'>;

/** The package that brings ready-made bundles, and its folder of them. */
const FUNCTIONS_PACKAGE = 'schemaless-functions';
export const READY_MADE = 'dist';

/** Where the bundles for one way to MySQL lie among the ready-made ones: `mysql-proxy`. */
export function wayFolder({ access, proxy }: BundledWay): string {
  return proxy ? `${access}-proxy` : access;
}

/**
 * The functions as the package of theirs brings them, which has to be of the same version.
 *
 * @param from the folder of that package: by default where it is installed
 * @throws an Error when it is not installed, is of another version, or was not built
 */
export function readyMade(way: BundledWay, from = installedFunctions()): FunctionCode {
  const folder = join(from, READY_MADE, wayFolder(way));
  return {
    own(name) {
      const bundle = join(folder, name);
      if (!existsSync(join(bundle, 'index.mjs')))
        throw new Error(`functions: wanted the bundle of ${name} in ${folder}, got nothing; its package was not built`);
      return Code.fromAsset(bundle);
    },
  };
}

function installedFunctions(): string {
  const { resolve } = createRequire(import.meta.url);
  let manifest: string;
  try {
    manifest = resolve(`${FUNCTIONS_PACKAGE}/package.json`);
  } catch {
    throw new Error(
      `functions: wanted the package ${FUNCTIONS_PACKAGE} beside this one, got none: npm install ${FUNCTIONS_PACKAGE}@${VERSION}`,
    );
  }
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
  if (version !== VERSION)
    throw new Error(
      `functions: wanted ${FUNCTIONS_PACKAGE} of version ${VERSION}, as these constructs are, got ${version}: npm install ${FUNCTIONS_PACKAGE}@${VERSION}`,
    );
  return dirname(manifest);
}

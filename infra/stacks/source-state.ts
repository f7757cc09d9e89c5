import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PROJECT_ROOT } from '../app-context.ts';

/** File times may lag the clock by a kernel tick. */
const TICK_MS = 50;
const VARIABLES = /^(?:CDK|ESBUILD|NODE|AWS)_(?!COMPILE_CACHE$)/u;
/** Files in any parent folder that change the bundler's result. */
const SETTINGS = ['package.json', 'tsconfig.json', 'jsconfig.json'];

/** Hashes the order, Node's version, the machine and environment variables. */
export function hashOfSettings(order: unknown): string {
  const variables = Object.entries(process.env)
    .filter(([name]) => VARIABLES.test(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([order, process.version, process.platform, process.arch, variables]))
    .digest('hex');
}

/** Hashes sources and their surroundings by content, and notes the newest change. */
export class SourceState {
  /** Newest change, in ms. */
  #newest = 0;
  /** The bundler's settings extend files that are not checked. */
  #extendsOthers = false;

  /** True if nothing changed since `startedAt` and everything relevant was checked. */
  isCertain(startedAt: number): boolean {
    return this.#newest <= startedAt - TICK_MS && !this.#extendsOthers;
  }

  trees(folders: readonly string[]): string {
    const hash = createHash('sha256');
    for (const folder of folders) this.#tree(folder, hash);
    return hash.digest('hex');
  }

  /** Hashes files, and what would be found in their place. */
  around(files: readonly string[]): string {
    const hash = createHash('sha256');
    for (const file of files) this.#file(file, hash);
    const folders = new Set(files.map((file) => dirname(file)));
    for (const folder of withParents(folders)) this.#names(folder, hash);
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
    // A nested hash, so that no content passes for a file name.
    hash.update(content === undefined ? 'none' : createHash('sha256').update(content).digest());
    if (content !== undefined) this.#seen(path);
    return content;
  }

  #settings(path: string, hash: Hash): void {
    const content = this.#file(path, hash);
    // The bundler ignores those of packages.
    const counts = /[jt]sconfig\.json$/u.test(path) && !path.includes('/node_modules/');
    if (counts && content?.includes('"extends"') === true) this.#extendsOthers = true;
  }

  #names(folder: string, hash: Hash, entries = entriesOf(folder)): void {
    const names = entries.map((entry) =>
      entry.isSymbolicLink() ? [entry.name, targetOf(folder, entry.name)] : entry.name,
    );
    hash.update(`\0${folder}\0${JSON.stringify(names)}`);
    if (names.length > 0) this.#seen(folder);
  }

  /** Names only: used files are hashed themselves. */
  #packages(folder: string, hash: Hash): void {
    if (!existsSync(folder)) return;
    this.#names(folder, hash);
    for (const { name } of entriesOf(folder)) if (name.startsWith('@')) this.#names(join(folder, name), hash);
  }

  #seen(path: string): void {
    this.#newest = Math.max(this.#newest, statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? Infinity);
  }
}

type Hash = ReturnType<typeof createHash>;

/** Adds parent folders within the package, where a module next to a folder takes precedence. */
function withParents(folders: ReadonlySet<string>): readonly string[] {
  const all = new Set(folders);
  for (const folder of folders) {
    if (folder.includes('/node_modules/')) continue;
    const parents = [...ancestorsOf(folder)];
    const top = parents.findIndex((parent) => existsSync(join(parent, 'package.json')));
    for (const parent of parents.slice(0, Math.max(0, top))) all.add(parent);
  }
  return [...all].sort();
}

function* ancestorsOf(folder: string): Generator<string> {
  for (let at = folder; dirname(at) !== at; at = dirname(at)) yield dirname(at);
}

function targetOf(folder: string, name: string): string {
  try {
    return readlinkSync(join(folder, name));
  } catch {
    return '';
  }
}

function withAncestors(folders: ReadonlySet<string>): readonly string[] {
  const all = new Set<string>();
  for (let folder of folders)
    while (!all.has(folder)) {
      all.add(folder);
      folder = dirname(folder);
    }
  return [...all].sort();
}

type Entries = readonly { readonly name: string; isDirectory(): boolean; isSymbolicLink(): boolean }[];

/** Without packages and their build output. */
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

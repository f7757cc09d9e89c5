import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { watch, type FSWatcher } from 'chokidar';
import { loadTriggers } from './load-triggers.ts';
import type { LocalStack, TakenOver } from '../running/running-stack.ts';

export interface WatchedSources {
  /** Resolves when nothing is watched any more, and what was being taken over has been. */
  close(): Promise<void>;
}

type WatchedStack = Pick<LocalStack, 'sources' | 'takeOver' | 'datastores' | 'functions'>;

/** Editors write several files for one, and people save several at once. */
const QUIET_MS = 100;
/** More names than this are counted. */
const NAMED = 3;
const YAML = /\.ya?ml$/u;

/**
 * Has a stack take over what changes in the files that it was made from: the YAML of the datastores, and every module
 * and bundled file outside of packages. Resolves once all of them are watched.
 *
 * @param log told of each time in a line: what changed, what was taken over, how long it took; where it could not be,
 *   what is wrong follows in lines of its own
 * @param since by `Date.now()`: what was changed from then on, before it was watched, is taken over as well @default
 *   nothing was
 */
export async function watchSources(
  stack: WatchedStack,
  log: (line: string) => void,
  since = Number.POSITIVE_INFINITY,
): Promise<WatchedSources> {
  const options = { ignoreInitial: true, ignorePermissionErrors: true };
  const definitions = watch(stack.sources().datastores, options);
  // The folders of files, not the files: what an import lacks may come to lie beside them.
  const modules = watch([...foldersOf(stack)], { ...options, depth: 0 });
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let working = Promise.resolve();
  let hasFailed = false;
  let isClosed = false;

  function note(path: string): void {
    changed.add(path);
    clearTimeout(timer);
    timer = setTimeout(() => {
      working = working.then(() => work());
    }, QUIET_MS);
  }

  async function work(): Promise<void> {
    if (changed.size === 0 || isClosed) return;
    const what = `changed ${named([...changed].map((path) => relative(process.cwd(), path)))}`;
    changed.clear();
    const began = performance.now();
    const took = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`;
    try {
      const taken = await stack.takeOver();
      hasFailed = false;
      log(`${what}: ${described(taken)} (${took()})`);
      modules.add([...foldersOf(stack)]);
      for (const line of await loadTriggers(stack, taken.functions)) log(line);
    } catch (error) {
      hasFailed = true;
      log(`${what}: not taken over, what ran before goes on (${took()})`);
      log(error instanceof Error ? error.message : String(error));
    }
  }

  definitions.on('all', (event, path) => {
    if (event.endsWith('Dir') || YAML.test(path)) note(path);
  });
  modules.on('all', (_event, path) => {
    // Where files are missing, any that comes may be the one.
    if (stack.sources().read.has(path) || (hasFailed && /\.(?:[cm]?[jt]s|json)$/u.test(path))) note(path);
  });
  await Promise.all(
    [definitions, modules].map((watcher) => new Promise<void>((resolve) => void watcher.once('ready', resolve))),
  );
  for (const path of [...ownFiles(stack), ...definitionsIn(definitions)]) if (isChanged(path, since)) note(path);
  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await Promise.all([definitions.close(), modules.close()]);
      await working;
    },
  };
}

/** The folders of the files that the stack was made from; of packages none. */
function foldersOf(stack: Pick<LocalStack, 'sources'>): ReadonlySet<string> {
  return new Set(
    ownFiles(stack)
      .map((path) => dirname(path))
      .filter((folder) => existsSync(folder)),
  );
}

function ownFiles(stack: Pick<LocalStack, 'sources'>): readonly string[] {
  return [...stack.sources().read].filter((path) => !path.includes(join('/', 'node_modules', '/')));
}

function definitionsIn(watcher: FSWatcher): readonly string[] {
  return Object.entries(watcher.getWatched()).flatMap(([folder, names]) =>
    names.filter((name) => YAML.test(name)).map((name) => join(folder, name)),
  );
}

/** Or gone. */
function isChanged(path: string, since: number): boolean {
  return since < Number.POSITIVE_INFINITY && (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? since) >= since;
}

function described({ definitions, functions }: TakenOver): string {
  if (definitions.length === 0 && functions.length === 0) return 'nothing to take over';
  const ofFunctions = functions.length > NAMED ? `${functions.length} functions` : named(functions);
  return `${[...definitions, ...(functions.length > 0 ? [ofFunctions] : [])].join(', ')} taken over`;
}

function named(names: readonly string[]): string {
  const more = names.length - NAMED;
  return more > 0 ? `${names.slice(0, NAMED).join(', ')} and ${more} more` : names.join(', ');
}

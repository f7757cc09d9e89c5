import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { watch, type FSWatcher } from 'chokidar';
import { loadTriggers } from './load-triggers.ts';
import type { LocalStack, TakenOver } from '../running/running-stack.ts';
import { messageOf } from '../message-of.ts';

type WatchedStack = Pick<LocalStack, 'sources' | 'takeOver' | 'datastores' | 'functions'>;

/** Editors and users save several files at once. */
const QUIET_MS = 100;
/** Names listed; the rest is counted. */
const NAMED = 3;
const YAML = /\.ya?ml$/u;

export type WatchedSources = Awaited<ReturnType<typeof watchSources>>;

/**
 * Applies changes of a stack's sources: the YAML of datastores, and every module and bundled file outside packages.
 * Resolves once all are watched. `since`: by `Date.now()`: changes from then on are applied as well.
 */
export async function watchSources(stack: WatchedStack, log: (line: string) => void, since = Number.POSITIVE_INFINITY) {
  const options = { ignoreInitial: true, ignorePermissionErrors: true };
  const definitions = watch(stack.sources().datastores, options);
  // Watches folders: a missing import may appear next to other files.
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
      log(`${what}: not reloaded, the previous version keeps running (${took()})`);
      log(messageOf(error));
    }
  }

  definitions.on('all', (event, path) => {
    if (event.endsWith('Dir') || YAML.test(path)) note(path);
  });
  modules.on('all', (_event, path) => {
    // After a failed import, any new file may be the missing one.
    if (stack.sources().read.has(path) || (hasFailed && /\.(?:[cm]?[jt]s|json)$/u.test(path))) note(path);
  });
  await Promise.all(
    [definitions, modules].map((watcher) => new Promise<void>((resolve) => void watcher.once('ready', resolve))),
  );
  for (const path of [...ownFiles(stack), ...definitionsIn(definitions)]) if (isChanged(path, since)) note(path);
  return {
    /** Resolves when nothing is watched or being applied. */
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await Promise.all([definitions.close(), modules.close()]);
      await working;
    },
  };
}

/** Excludes packages. */
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

/** True for a deleted file. */
function isChanged(path: string, since: number): boolean {
  return since < Number.POSITIVE_INFINITY && (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? since) >= since;
}

function described({ definitions, functions }: TakenOver): string {
  if (definitions.length === 0 && functions.length === 0) return 'nothing to reload';
  const ofFunctions = functions.length > NAMED ? `${functions.length} functions` : named(functions);
  return `${[...definitions, ...(functions.length > 0 ? [ofFunctions] : [])].join(', ')} reloaded`;
}

function named(names: readonly string[]): string {
  const more = names.length - NAMED;
  return more > 0 ? `${names.slice(0, NAMED).join(', ')} and ${more} more` : names.join(', ');
}

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { hashOfSettings, SourceState } from './source-state.ts';

export interface MadeBundles {
  /** By path in the target folder. */
  readonly texts: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

/** Earlier bundles by order: everything that decides the result, except files. */
interface KeptBundles {
  /** Returns earlier bundles if their files and surroundings are unchanged. */
  find(order: unknown): MadeBundles | undefined;
  /** Keeps bundles, unless a file has changed since `startedAt` or cannot be checked. */
  keep(order: unknown, made: MadeBundles, startedAt: number): void;
}

interface Kept extends MadeBundles {
  readonly found: string;
}

/** A store takes 16 MB; the least recently used go first. */
const MOST_BYTES = 150_000_000;

/** Keeps nothing in a folder that cannot be written to. */
export function keptBundles(folder: string, mostBytes = MOST_BYTES): KeptBundles {
  // First, since names next to packages count.
  unlessRefused(() => mkdirSync(folder, { recursive: true }));
  const pathOf = (order: unknown): string => join(folder, `${hashOfSettings(order)}.json`);
  return {
    find(order) {
      const path = pathOf(order);
      const kept = read(path);
      if (kept === undefined || new SourceState().around(kept.files) !== kept.found) return undefined;
      const now = new Date();
      unlessRefused(() => utimesSync(path, now, now));
      return { texts: kept.texts, files: kept.files };
    },
    keep(order, made, startedAt) {
      const state = new SourceState();
      const kept: Kept = { ...made, found: state.around(made.files) };
      if (!state.isCertain(startedAt) || !made.files.every((file) => existsSync(file))) return;
      const path = pathOf(order);
      // Other processes may keep the same.
      const next = `${path}.${process.pid}`;
      unlessRefused(() => {
        writeFileSync(next, JSON.stringify(kept));
        renameSync(next, path);
        forgetOld(folder, mostBytes);
      });
    },
  };
}

function read(path: string): Kept | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Kept;
  } catch {
    return undefined;
  }
}

function forgetOld(folder: string, mostBytes: number): void {
  const byAge = readdirSync(folder)
    .map((name) => ({ path: join(folder, name), ...infoOf(join(folder, name)) }))
    .sort((one, other) => other.usedAt - one.usedAt);
  let bytes = 0;
  for (const { path, size } of byAge) {
    bytes += size;
    if (bytes > mostBytes) rmSync(path, { force: true });
  }
}

function infoOf(path: string): { readonly usedAt: number; readonly size: number } {
  const { mtimeMs = 0, size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return { usedAt: mtimeMs, size };
}

/** Rethrows errors other than the disk's. */
function unlessRefused(change: () => unknown): void {
  try {
    change();
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
  }
}

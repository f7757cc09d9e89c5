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
import { hashOfSettings, SourceLook } from './source-look.ts';

export interface MadeBundles {
  /** By path below the folder that they go to. */
  readonly texts: Readonly<Record<string, string>>;
  /** The paths of all files that went into them. */
  readonly files: readonly string[];
}

/** Bundles of earlier times, by what was ordered: everything that decides what is made, besides the files. */
interface KeptBundles {
  /**
   * What was made of the same order before, if the bundler would make it again: of each file the content, and what lies
   * around it, are as they were.
   */
  find(order: unknown): MadeBundles | undefined;
  /**
   * Keeps them; not where a file was changed meanwhile, or is none that can be looked at.
   *
   * @param startedAt by `Date.now()`, before the first of the files was read
   */
  keep(order: unknown, made: MadeBundles, startedAt: number): void;
}

interface Kept extends MadeBundles {
  /** Of the files, and of all that lies around them. */
  readonly found: string;
}

/** Those of a store are 16 MB; what was not used for longest goes. */
const MOST_BYTES = 150_000_000;

/**
 * @param folder one that cannot be written to keeps nothing: it costs the next one the time to make them again
 * @param mostBytes of all that is kept
 */
export function keptBundles(folder: string, mostBytes = MOST_BYTES): KeptBundles {
  // Before anything is looked at: it lies beside packages, whose names count.
  unlessRefused(() => mkdirSync(folder, { recursive: true }));
  const pathOf = (order: unknown): string => join(folder, `${hashOfSettings(order)}.json`);
  return {
    find(order) {
      const path = pathOf(order);
      const kept = read(path);
      if (kept === undefined || new SourceLook().around(kept.files) !== kept.found) return undefined;
      const now = new Date();
      unlessRefused(() => utimesSync(path, now, now));
      return { texts: kept.texts, files: kept.files };
    },
    keep(order, made, startedAt) {
      const look = new SourceLook();
      const kept: Kept = { ...made, found: look.around(made.files) };
      if (!look.isCertain(startedAt) || !made.files.every((file) => existsSync(file))) return;
      const path = pathOf(order);
      // Others may keep the same at this moment.
      const next = `${path}.${process.pid}`;
      unlessRefused(() => {
        writeFileSync(next, JSON.stringify(kept));
        renameSync(next, path);
        forgetOld(folder, mostBytes);
      });
    },
  };
}

/** Undefined where there is nothing, or what is there is damaged. */
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

/** @throws Error that is none of the disk's */
function unlessRefused(change: () => unknown): void {
  try {
    change();
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
  }
}

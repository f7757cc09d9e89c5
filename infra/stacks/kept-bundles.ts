import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashOfSettings, SourceLook } from './source-look.ts';

/** Bundles that were made together. */
export interface MadeBundles {
  /** By path below the folder that they go to. */
  readonly texts: Readonly<Record<string, string>>;
  /** The paths of all files that went into them. */
  readonly files: readonly string[];
}

interface Kept extends MadeBundles {
  /** Of the files, and of all that lies around them. */
  readonly found: string;
}

/** Of 20 MB and less; what was not used for longest goes. */
const MOST_KEPT = 12;

/**
 * What was made of the same order before, if the bundler would make it again: of each file the content, and what lies
 * around it, are as they were.
 *
 * @param folder of what is kept
 * @param order everything that decides what is made, besides the files
 */
export function findBundles(folder: string, order: unknown): MadeBundles | undefined {
  const path = pathOf(folder, order);
  try {
    const { found, ...made } = JSON.parse(readFileSync(path, 'utf8')) as Kept;
    if (new SourceLook().around(made.files) !== found) return undefined;
    const now = new Date();
    utimesSync(path, now, now);
    return made;
  } catch {
    return undefined;
  }
}

/**
 * Keeps them, unless a file was changed while they were made. A folder that cannot be written to keeps nothing.
 *
 * @param startedAt by `Date.now()`, before the first of the files was read
 */
export function keepBundles(folder: string, order: unknown, made: MadeBundles, startedAt: number): void {
  const look = new SourceLook();
  const kept: Kept = { ...made, found: look.around(made.files) };
  if (!look.isCertain(startedAt)) return;
  try {
    mkdirSync(folder, { recursive: true });
    const path = pathOf(folder, order);
    // Others may keep the same at this moment.
    const next = `${path}.${process.pid}`;
    writeFileSync(next, JSON.stringify(kept));
    renameSync(next, path);
    forgetOld(folder);
  } catch {
    // It costs the next one the time to make them again.
  }
}

function pathOf(folder: string, order: unknown): string {
  return join(folder, `${hashOfSettings(order)}.json`);
}

function forgetOld(folder: string): void {
  const byAge = readdirSync(folder)
    .map((name) => join(folder, name))
    .map((path) => ({ path, usedAt: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.usedAt - one.usedAt);
  for (const { path } of byAge.slice(MOST_KEPT)) rmSync(path, { force: true });
}

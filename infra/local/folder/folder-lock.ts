import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, startTimeOf } from '../platform/process-table.ts';

interface Holder {
  readonly pid: number;
  /** Distinguishes the process from a later one with the same id. */
  readonly startTime: string;
}

const ATTEMPTS = 20;

/** Locks a folder for this process; throws an Error that names the owner. A dead owner does not count. */
export function lockFolder(folder: string): { release(): void } {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'lock');
  const own = `${file}.${process.pid}`;
  const text = JSON.stringify({ pid: process.pid, startTime: startTimeOf(process.pid) ?? '' } satisfies Holder);
  writeFileSync(own, text);
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      if (link(own, file)) return { release: () => release(file, text) };
      const held = read(file);
      if (held === '') continue;
      const holder = parse(held);
      if (holder !== undefined && isRunning(holder.pid) && startTimeOf(holder.pid) === holder.startTime) {
        throw new Error(`${folder} is in use by process ${holder.pid}: stop it first, or choose another folder`);
      }
      discard(file, held);
    }
    throw new Error(`${folder} could not be locked: others keep taking and leaving it`);
  } finally {
    rmSync(own, { force: true });
  }
}

/** Creates the lock with its content in one step, so that no reader sees half of it. */
function link(own: string, file: string): boolean {
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes a dead owner's lock; restores it if another process has renewed it since. */
function discard(file: string, dead: string): void {
  const aside = `${file}.${process.pid}.dead`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  if (read(aside) !== dead) link(aside, file);
  rmSync(aside, { force: true });
}

function release(file: string, text: string): void {
  if (read(file) === text) rmSync(file, { force: true });
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function parse(text: string): Holder | undefined {
  try {
    const { pid, startTime } = Object(JSON.parse(text));
    return { pid: Number(pid), startTime: String(startTime) };
  } catch {
    return undefined;
  }
}

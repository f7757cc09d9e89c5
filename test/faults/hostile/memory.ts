import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const KIB = 1024;

/** How much the processes of a stack grow: the gateway's, and that of each function behind the HTTP API. */
export interface MemoryWatch {
  /** The most that any of them has held beyond the most that it had held at the start, in bytes, and which. */
  most(): { readonly bytes: number; readonly process: string };
}

/** Begins with the most that they have held so far. */
export function watchMemory(stack: number): MemoryWatch {
  const starts = [stack, ...functionsOf(stack)].map((pid) => ({ pid, name: nameOf(pid), start: memoryOf(pid).peak }));
  return {
    // An instance that nobody needed any more was let go; one that crashed is counted as that.
    most: () =>
      starts
        .filter(({ pid }) => readOr(`/proc/${pid}/status`) !== '')
        .map(({ pid, name, start }) => ({ bytes: memoryOf(pid).peak - start, process: name }))
        .reduce((most, one) => (one.bytes > most.bytes ? one : most)),
  };
}

/** What a process holds in memory, in bytes. */
interface Memory {
  readonly now: number;
  /** The most since `forgetPeak`. */
  readonly peak: number;
}

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * KIB;
  return { now: read('VmRSS'), peak: read('VmHWM') };
}

/** From now on the peak is counted anew. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** Those behind the HTTP API: the others come and go with the minutes. */
const ASKED = /writecells|readcells|queryindex|managetriggers/;

function functionsOf(stack: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === stack && ASKED.test(nameOf(pid)));
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)/m.exec(readOr(`/proc/${pid}/status`))?.[1] ?? 0);
}

/** "writecells", "gateway" */
function nameOf(pid: number): string {
  return ASKED.exec(/"name":"([^"]*)"/.exec(readOr(`/proc/${pid}/cmdline`))?.[1] ?? '')?.[0] ?? 'gateway';
}

/** A process may end between two looks. */
function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

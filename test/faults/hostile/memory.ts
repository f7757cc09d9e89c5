import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const KIB = 1024;

/** The memory growth of a stack's processes: the gateway's, and that of each function behind the HTTP API. */
export interface MemoryWatch {
  /** Returns the largest growth of a process above its peak at the start, in bytes, and which process. */
  most(): { readonly bytes: number; readonly process: string };
}

/** Starts with the peaks so far. */
export function watchMemory(stack: number): MemoryWatch {
  const starts = [stack, ...functionsOf(stack)].map((pid) => ({ pid, name: nameOf(pid), start: memoryOf(pid).peak }));
  return {
    // Idle instances were ended; a crashed one is counted as such.
    most: () =>
      starts
        .filter(({ pid }) => readOr(`/proc/${pid}/status`) !== '')
        .map(({ pid, name, start }) => ({ bytes: memoryOf(pid).peak - start, process: name }))
        .reduce((most, one) => (one.bytes > most.bytes ? one : most)),
  };
}

/** The memory of a process, in bytes. */
interface Memory {
  readonly now: number;
  /** The peak since `forgetPeak`. */
  readonly peak: number;
}

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * KIB;
  return { now: read('VmRSS'), peak: read('VmHWM') };
}

/** Resets the peak. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** Functions behind the HTTP API: the others come and go each minute. */
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

/** A process may end between two polls. */
function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

import { readFileSync, readdirSync } from 'node:fs';
import type { ProcessTable } from './process-source.ts';

/** Above any real number of open files. */
const UNLIMITED = 1_000_000;

/** By `/proc`. */
export const linuxProcesses: ProcessTable = {
  isRunning,
  startTimeOf: (pid) => fields(pid)?.[19],
  residentBytes,
  proportionalBytes(pid) {
    const [, kilobytes] = /^Pss:\s+(\d+) kB$/mu.exec(readOr(`/proc/${pid}/smaps_rollup`)) ?? [];
    return kilobytes === undefined ? residentBytes(pid) : Number(kilobytes) * 1024;
  },
  cpuTicks(pid) {
    const folder = `/proc/${pid}/task`;
    return new Map(
      namesIn(folder).flatMap((id) => {
        const text = readOr(`${folder}/${id}/stat`);
        if (text === '') return [];
        const [, , , , , , , , , , , user, system] = text.slice(text.lastIndexOf(')') + 2).split(' ');
        const name = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'));
        return [[id, { name, ticks: Number(user) + Number(system) }] as const];
      }),
    );
  },
  processesWithArgument: (argument) =>
    running().filter((pid) => readOr(`/proc/${pid}/cmdline`).split('\0').includes(argument)),
  processesNaming: (text) => running().filter((pid) => readOr(`/proc/${pid}/cmdline`).includes(text)),
  openFilesLimit() {
    const hard = /^Max open files\s+\S+\s+(\d+)/m.exec(readOr('/proc/self/limits'))?.[1];
    return hard === undefined ? UNLIMITED : Number(hard);
  },
};

function running(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(isRunning);
}

function isRunning(pid: number): boolean {
  const state = fields(pid)?.[0];
  return state !== undefined && state !== 'Z' && state !== 'X';
}

function residentBytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/mu.exec(readOr(`/proc/${pid}/status`)) ?? [];
  return Number(kilobytes ?? 0) * 1024;
}

/** The fields of /proc/PID/stat from the state on; the name before may hold spaces and brackets. */
function fields(pid: number): readonly string[] | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  const text = readOr(`/proc/${pid}/stat`);
  return text === '' ? undefined : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

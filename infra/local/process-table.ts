import { readFileSync, readdirSync } from 'node:fs';

/** True while the process exists; one that has ended and was not yet waited for (a zombie) does not count. */
export function isRunning(pid: number): boolean {
  const state = fields(pid)?.[0];
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** When a process started, in clock ticks since the machine did; undefined when there is no such process. */
export function startTimeOf(pid: number): string | undefined {
  return fields(pid)?.[19];
}

/** What a process has in memory, what it shares with others included; 0 when there is no such process. */
export function residentBytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/mu.exec(readOr(`/proc/${pid}/status`)) ?? [];
  return Number(kilobytes ?? 0) * 1024;
}

/**
 * What a process has in memory, of what it shares with others its part; what it has in memory where the system says no
 * more.
 */
export function proportionalBytes(pid: number): number {
  const [, kilobytes] = /^Pss:\s+(\d+) kB$/mu.exec(readOr(`/proc/${pid}/smaps_rollup`)) ?? [];
  return kilobytes === undefined ? residentBytes(pid) : Number(kilobytes) * 1024;
}

/** In which `cpuTicks` counts: the same on every Linux. */
export const TICKS_PER_SECOND = 100;

/** The processor time of each thread of a process, by thread id; empty when there is no such process. */
export function cpuTicks(pid: number): ReadonlyMap<string, { readonly name: string; readonly ticks: number }> {
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
}

/** The processes that were started with exactly this argument. */
export function processesWithArgument(argument: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isRunning(pid) && readOr(`/proc/${pid}/cmdline`).split('\0').includes(argument));
}

/** The fields of /proc/PID/stat from the state on; the name before them may itself hold spaces and brackets. */
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

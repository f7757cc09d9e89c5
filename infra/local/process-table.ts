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

function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

import { execFileSync } from 'node:child_process';
import { TICKS_PER_SECOND, type ProcessTable } from './process-source.ts';

/** By `ps` as POSIX has it, with the two columns that macOS and Linux have besides: `lstart` and `rss`. */
export const posixProcesses: ProcessTable = {
  isRunning: (pid) => !/^(?:[ZX]|$)/u.test(columnOf(pid, 'stat')),
  startTimeOf: (pid) => columnOf(pid, 'lstart') || undefined,
  residentBytes,
  proportionalBytes: residentBytes,
  cpuTicks(pid) {
    const time = columnOf(pid, 'time');
    return time === '' ? new Map() : new Map([[String(pid), { name: 'all threads', ticks: ticksOf(time) }]]);
  },
  // A command is shown as one text: what has the argument as a part of another with spaces is not told from it.
  processesWithArgument: (argument) => commandsWith(` ${argument} `),
  processesNaming: commandsWith,
  openFilesLimit() {
    const limit = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
    return /^\d+$/u.test(limit) ? Number(limit) : 1_000_000;
  },
};

/** @param text that the command has, with a space put before and after it */
function commandsWith(text: string): readonly number[] {
  return output(['-A', '-ww', '-o', 'pid=,command='])
    .split('\n')
    .flatMap((line) => {
      const [, pid, command] = /^\s*(\d+)\s+(.*)$/u.exec(line) ?? [];
      return command !== undefined && ` ${command} `.includes(text) ? [Number(pid)] : [];
    })
    .filter((pid) => posixProcesses.isRunning(pid));
}

function residentBytes(pid: number): number {
  return Number(columnOf(pid, 'rss')) * 1024;
}

/** `[[days-]hours:]minutes:seconds`, on macOS with hundredths. */
function ticksOf(time: string): number {
  const [, days = '0', rest = ''] = /^(?:(\d+)-)?(.*)$/u.exec(time) ?? [];
  const seconds = rest.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return Math.round((Number(days) * 86_400 + seconds) * TICKS_PER_SECOND);
}

/** Empty where there is no such process. */
function columnOf(pid: number, column: string): string {
  return Number.isSafeInteger(pid) && pid > 0 ? output(['-o', `${column}=`, '-p', String(pid)]).trim() : '';
}

function output(flags: readonly string[]): string {
  try {
    return execFileSync('ps', [...flags], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      // Times are texts that are compared.
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch {
    // It ends with 1 where it finds nothing.
    return '';
  }
}

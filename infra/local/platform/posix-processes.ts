import { execFileSync } from 'node:child_process';
import { TICKS_PER_SECOND, type ProcessTable } from './process-source.ts';

/** Uses POSIX `ps`, with `lstart` and `rss` of macOS and Linux. */
export const posixProcesses: ProcessTable = {
  isRunning: (pid) => !/^(?:[ZX]|$)/u.test(columnOf(pid, 'stat')),
  startTimeOf: (pid) => columnOf(pid, 'lstart') || undefined,
  residentBytes,
  proportionalBytes: residentBytes,
  cpuTicks(pid) {
    const time = columnOf(pid, 'time');
    return time === '' ? new Map() : new Map([[String(pid), { name: 'all threads', ticks: ticksOf(time) }]]);
  },
  // `ps` shows one text, so an argument within a longer one with spaces matches too.
  processesWithArgument: (argument) => commandsWith(` ${argument} `),
  processesNaming: commandsWith,
  openFilesLimit() {
    const limit = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
    return /^\d+$/u.test(limit) ? Number(limit) : 1_000_000;
  },
};

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

/** `[[days-]hours:]minutes:seconds`, with hundredths on macOS. */
function ticksOf(time: string): number {
  const [, days = '0', rest = ''] = /^(?:(\d+)-)?(.*)$/u.exec(time) ?? [];
  const seconds = rest.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return Math.round((Number(days) * 86_400 + seconds) * TICKS_PER_SECOND);
}

function columnOf(pid: number, column: string): string {
  return Number.isSafeInteger(pid) && pid > 0 ? output(['-o', `${column}=`, '-p', String(pid)]).trim() : '';
}

function output(flags: readonly string[]): string {
  try {
    return execFileSync('ps', [...flags], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      // Start times are compared as texts.
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch {
    // `ps` exits with 1 without a result.
    return '';
  }
}

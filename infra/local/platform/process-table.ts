import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';

interface ProcessTable {
  /** False for a zombie. */
  isRunning(pid: number): boolean;
  /** In the system's own words; undefined without such a process. */
  startTimeOf(pid: number): string | undefined;
  /** Includes shared memory; 0 without such a process. */
  residentBytes(pid: number): number;
  /** Counts shared memory in part, where the system says so. */
  proportionalBytes(pid: number): number;
  /** Processor time by thread id, or of the whole process; empty without such a process. */
  cpuTicks(pid: number): ReadonlyMap<string, { readonly name: string; readonly ticks: number }>;
  processesWithArgument(argument: string): readonly number[];
  processesNaming(text: string): readonly number[];
  openFilesLimit(): number;
}

/** The unit of `cpuTicks`: the same on every Linux. */
export const TICKS_PER_SECOND = 100;
/** Above any real number of open files. */
const UNLIMITED = 1_000_000;

/** By `/proc`. */
export const linuxProcesses: ProcessTable = {
  isRunning(pid) {
    const state = statOf(pid)?.[0];
    return state !== undefined && state !== 'Z' && state !== 'X';
  },
  startTimeOf: (pid) => statOf(pid)?.[19],
  residentBytes: (pid) => 1024 * Number(/^VmRSS:\s+(\d+) kB$/mu.exec(readOr(`/proc/${pid}/status`))?.[1] ?? 0),
  proportionalBytes(pid) {
    const kilobytes = /^Pss:\s+(\d+) kB$/mu.exec(readOr(`/proc/${pid}/smaps_rollup`))?.[1];
    return kilobytes === undefined ? linuxProcesses.residentBytes(pid) : Number(kilobytes) * 1024;
  },
  cpuTicks(pid) {
    const folder = `/proc/${pid}/task`;
    return new Map(
      namesIn(folder).flatMap((id) => {
        const text = readOr(`${folder}/${id}/stat`);
        if (text === '') return [];
        const [, , , , , , , , , , , user, system] = fieldsOf(text);
        const name = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'));
        return [[id, { name, ticks: Number(user) + Number(system) }] as const];
      }),
    );
  },
  processesWithArgument: (argument) => processesLike((command) => command.split('\0').includes(argument)),
  processesNaming: (text) => processesLike((command) => command.includes(text)),
  openFilesLimit: () => Number(/^Max open files\s+\S+\s+(\d+)/mu.exec(readOr('/proc/self/limits'))?.[1] ?? UNLIMITED),
};

function processesLike(isWanted: (command: string) => boolean): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map(Number)
    .filter((pid) => linuxProcesses.isRunning(pid) && isWanted(readOr(`/proc/${pid}/cmdline`)));
}

function statOf(pid: number): readonly string[] | undefined {
  const text = Number.isSafeInteger(pid) && pid > 0 ? readOr(`/proc/${pid}/stat`) : '';
  return text === '' ? undefined : fieldsOf(text);
}

/** The fields of a `stat` from the state on; the name before may hold spaces and brackets. */
function fieldsOf(text: string): readonly string[] {
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
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

/** By POSIX `ps`, with `lstart` and `rss` of macOS and Linux. */
export const posixProcesses: ProcessTable = {
  isRunning: (pid) => !/^(?:[ZX]|$)/u.test(columnOf(pid, 'stat')),
  startTimeOf: (pid) => columnOf(pid, 'lstart') || undefined,
  residentBytes: (pid) => Number(columnOf(pid, 'rss')) * 1024,
  proportionalBytes: (pid) => posixProcesses.residentBytes(pid),
  cpuTicks(pid) {
    const time = columnOf(pid, 'time');
    return time === '' ? new Map() : new Map([[String(pid), { name: 'all threads', ticks: ticksOf(time) }]]);
  },
  // `ps` shows one text, so an argument within a longer one with spaces matches too.
  processesWithArgument: (argument) => commandsWith(` ${argument} `),
  processesNaming: commandsWith,
  openFilesLimit() {
    const limit = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
    return /^\d+$/u.test(limit) ? Number(limit) : UNLIMITED;
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

/** The only check of the system: `/proc` on Linux, `ps` elsewhere. */
const TABLE = existsSync('/proc/self/stat') ? linuxProcesses : posixProcesses;

export const {
  isRunning,
  startTimeOf,
  residentBytes,
  proportionalBytes,
  cpuTicks,
  processesWithArgument,
  processesNaming,
  openFilesLimit,
} = TABLE;

import { readdirSync, readFileSync } from 'node:fs';
import { sep } from 'node:path';

/** Kills the processes whose command line names a place below this folder, and returns their ids. */
export function endProcessesOn(folder: string): readonly number[] {
  const found = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && commandLine(pid).includes(folder + sep));
  for (const pid of found) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Gone in the meantime.
    }
  }
  return found;
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

import { sep } from 'node:path';
import { processesNaming } from '../../infra/local/platform/process-table.ts';

/** Kills the processes whose command line names a place below this folder, and returns their ids. */
export function endProcessesOn(folder: string): readonly number[] {
  const found = processesNaming(folder + sep).filter((pid) => pid !== process.pid);
  for (const pid of found) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Gone in the meantime.
    }
  }
  return found;
}

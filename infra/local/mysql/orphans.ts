import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning, processesWithArgument } from '../platform/process-table.ts';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { dataFolder } from './server-settings.ts';

const TERMINATE_MS = 20_000;
const POLL_MS = 20;

/** Shuts down servers of this folder whose parent was killed, by command line; returns their number. */
export async function stopOrphans(data: string): Promise<number> {
  const orphans = processesWithArgument(`--datadir=${data}`);
  await Promise.all(
    orphans.map(async (pid) => {
      signal(pid, 'SIGTERM');
      // It may have been paused.
      signal(pid, 'SIGCONT');
      const deadline = performance.now() + TERMINATE_MS;
      while (isRunning(pid)) {
        if (performance.now() > deadline) signal(pid, 'SIGKILL');
        await sleep(POLL_MS);
      }
    }),
  );
  return orphans.length;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already.
  }
}

/** Stops the servers that still run on a data folder whose stack was killed. */
export async function stopOrphansBelow(data: string): Promise<void> {
  const groups = join(data, 'groups');
  if (!existsSync(groups)) return;
  const folder = realpathSync(groups);
  const nodes = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  await Promise.all(nodes.map(({ name }) => stopOrphans(dataFolder(join(folder, name)))));
}

import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { stopOrphans } from '../mysql/orphans.ts';
import { dataFolder } from '../mysql/server-settings.ts';

/** Stops the servers that still run on a data folder whose stack was killed. */
export async function stopOrphansBelow(data: string): Promise<void> {
  const groups = join(data, 'groups');
  if (!existsSync(groups)) return;
  const folder = realpathSync(groups);
  const nodes = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  await Promise.all(nodes.map(({ name }) => stopOrphans(dataFolder(join(folder, name)))));
}

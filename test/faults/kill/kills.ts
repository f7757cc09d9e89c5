import { setTimeout as sleep } from 'node:timers/promises';
import { killNode, untilAllRun } from '../../support/nodes.ts';
import { Random } from '../../support/random.ts';
import { grouped } from '../../support/text-table.ts';
import type { Load } from '../load/start-load.ts';
import type { Stage } from '../stage.ts';

/** Before each kill, so that every server is hit in the middle of writing. */
const LEAST_PAUSE_MS = 1500;
const MOST_PAUSE_MS = 3500;
/** For the cells, on a slow machine. */
const PATIENCE_MS = 600_000;

/** Kills writers under load, in turn over the groups, each once all servers are back; then waits for so many cells. */
export async function killInTurn(
  { world: { seed, signal, say }, servers }: Stage,
  load: Load,
  count: number,
  cells: number,
): Promise<void> {
  const random = new Random(seed, 'kills', 0);
  const start = performance.now();
  const untilAcked = (wanted: number): Promise<boolean> =>
    load.untilAcked(wanted, PATIENCE_MS - (performance.now() - start));
  for (let kill = 0; kill < count; kill += 1) {
    // Spread over the whole load.
    await untilAcked((kill * cells) / (count + 1));
    await sleep(random.between(LEAST_PAUSE_MS, MOST_PAUSE_MS), undefined, { signal });
    const node = await killNode(servers, servers.groups[kill % servers.groups.length]?.name ?? '');
    say(`kill -9 of ${node}, number ${kill + 1}, at ${grouped(load.acked)} cells`);
    await untilAllRun(servers, signal);
  }
  await untilAcked(cells);
}

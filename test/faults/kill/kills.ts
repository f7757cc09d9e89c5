import { setTimeout as sleep } from 'node:timers/promises';
import type { ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import { Random } from '../../support/random.ts';
import type { Load } from '../load/start-load.ts';

export interface Kills {
  readonly servers: ShardGroups;
  readonly load: Load;
  readonly count: number;
  /** The load goes on until so many cells are acknowledged. */
  readonly cells: number;
  readonly seed: string;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Before each kill, so that every server is hit in the middle of writing. */
const LEAST_PAUSE_MS = 1500;
const MOST_PAUSE_MS = 3500;
const POLL_MS = 50;
/** The whole of it may take so long on a slow machine. */
const PATIENCE_MS = 600_000;

/** Kills writers under load, in turn over the groups, each once all servers are back; then waits for the cells. */
export async function killInTurn({ servers, load, count, cells, seed, signal, say }: Kills): Promise<void> {
  const random = new Random(seed, 'kills', 0);
  const deadline = performance.now() + PATIENCE_MS;
  const until = async (isThere: () => boolean): Promise<void> => {
    while (!isThere() && performance.now() < deadline) await sleep(POLL_MS, undefined, { signal });
  };
  for (let kill = 0; kill < count; kill += 1) {
    // Spread over the whole load.
    await until(() => load.acked >= (kill * cells) / (count + 1));
    await sleep(random.between(LEAST_PAUSE_MS, MOST_PAUSE_MS), undefined, { signal });
    const group = servers.groups[kill % servers.groups.length];
    const writer = group?.nodes.find(({ role }) => role === 'writer');
    if (!writer) throw new Error('a group without a writer');
    await servers.kill(writer.node);
    say(`kill -9 of ${writer.node}, number ${kill + 1}, at ${load.acked.toLocaleString('en-US')} cells`);
    await untilAllRun(servers, signal);
  }
  await until(() => load.acked >= cells);
}

/** Waits until every server is back in its role. */
export async function untilAllRun(servers: ShardGroups, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (servers.status().some(({ state }) => state !== 'running')) {
    if (performance.now() > deadline) throw new Error(`servers did not come back: ${JSON.stringify(servers.status())}`);
    await sleep(POLL_MS, undefined, { signal });
  }
}

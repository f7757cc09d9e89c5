import type { PutResult } from '../../../shared/cell.ts';
import { drainPass } from '../../support/drain-pass.ts';
import { killWithDisk } from '../../support/nodes.ts';
import { Random } from '../../support/random.ts';
import type { RunWorld, Share } from '../fault-run.ts';
import { openStore } from '../../support/store-access.ts';
import { Ledger } from '../load/ledger.ts';
import { countUnreadable, type AckedCell } from '../stored-cells.ts';
import { Stage } from '../stage.ts';
import { baseCell, rowKeyIn, shardsOf } from '../row-keys.ts';

const SHARDS = 12;
const CELLS = 300;
const SIDE_BY_SIDE = 8;
const PATIENCE_MS = 60_000;
const PRIMARY = 'group-1';
const [HOLDER, OTHER] = ['group-2', 'group-3'];

/**
 * Kills every group that holds copies of a group's writes right after the writes: with the primary up nothing is
 * missing. With the primary down, and one other group left to take a copy, cells on that group's disk are gone.
 *
 * @returns of the acknowledged cells, how many cannot be read any more
 */
export async function loseHintHolders(world: RunWorld): Promise<Readonly<Record<'primaryUp' | 'primaryDown', Share>>> {
  const { seed, say } = world;
  await using stage = await Stage.start(world, 'outage/holders', { readers: 0, shards: SHARDS });
  const random = new Random(seed, 'lost holders', 0);
  const kill = (groups: readonly string[]): Promise<readonly string[]> =>
    Promise.all(groups.map((group) => stage.kill(group)));
  const restart = async (nodes: readonly string[], groups: readonly string[]): Promise<void> => {
    await Promise.all(nodes.map((node) => stage.servers.restart(node)));
    await stage.untilAllRun({ groups, patienceMs: PATIENCE_MS });
  };

  const stored = await writeTo(stage, random, 'stored');
  const holders = await kill([HOLDER, OTHER]);
  const primaryUp = await countMissing(stage, stored);
  say(`both groups with copies died, the primary is up: ${primaryUp.wrong} of ${primaryUp.of} cells missing`);
  await restart(holders, [PRIMARY, HOLDER, OTHER]);

  const others = await kill([PRIMARY, OTHER]);
  const buffered = await writeTo(stage, random, 'buffered');
  await killWithDisk(stage.cluster, HOLDER);
  await restart(others, [PRIMARY, OTHER]);
  await drainOnce(stage, [PRIMARY, OTHER]);
  const primaryDown = await countMissing(stage, buffered);
  say(
    `the only copy died with its disk while the primary was down: ${primaryDown.wrong} of ${primaryDown.of} cells missing`,
  );
  return { primaryUp, primaryDown };
}

async function writeTo({ access }: Stage, random: Random, wanted: PutResult['outcome']): Promise<readonly AckedCell[]> {
  await using store = await openStore(access);
  // With groups down, their heads are errors, which also name the group.
  const shards = await shardsOf(store.datastore, PRIMARY);
  const ledger = new Ledger();
  const rowKeys = Array.from({ length: CELLS }, () => rowKeyIn(random, shards, SHARDS));
  const write = async (): Promise<void> => {
    for (let row_key = rowKeys.pop(); row_key !== undefined; row_key = rowKeys.pop()) {
      const cell = baseCell(row_key, { fare: random.integer(1, 1000) });
      const result = await store.datastore.put(cell);
      if (result.outcome !== wanted) throw new Error(`a put: wanted ${wanted}, got ${JSON.stringify(result)}`);
      ledger.note(cell, result);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, write));
  return ledger.written().acked;
}

/** Reads with new connections, which have met none of the faults. */
async function countMissing({ access }: Stage, acked: readonly AckedCell[]): Promise<Share> {
  await using store = await openStore(access);
  return { wrong: await countUnreadable(store.datastore, acked), of: acked.length };
}

async function drainOnce({ access }: Stage, holders: readonly string[]): Promise<void> {
  await using store = await openStore(access);
  for (const holder of holders) await drainPass(store.context, holder, () => true, { minimumAgeSeconds: 0 });
}

import { recoverPrimary } from '../../../shared/drain/recover-primary.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { drainAtOnce } from '../../support/drain-pass.ts';
import { stopReceiving } from '../../support/nodes.ts';
import { Random } from '../../support/random.ts';
import type { OpenStore, StoreAccess } from '../../support/store-access.ts';
import { check, grouped } from '../fault-run.ts';
import { baseCell, rowKeyIn, shardsOf } from '../row-keys.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { loseDisk } from './lose-disk.ts';

const LOSING = 'group-1';
const SHARDS = 6;
/** Cells that are buffered, drained and read before the disk is lost. */
const CELLS = 200;
const AT_ONCE = 20;
/** The time for the readers of a writer that came back to follow it again. */
const FOLLOWS_MS = 5000;

export const shownRun = stagedRun({
  name: 'shown',
  promise: 'A cell that was read keeps its body, also when its writer was told 202 and its group loses a disk',
  fault: `${CELLS} writes answered 202 while a writer is down, drained and read; the writer dies with its disk; a reader without them is promoted; other bodies are put there`,
  control: 'a drain that does not mark a copy as shown before it appends it',
  servers: { shards: SHARDS, promotes: true, restartAfterSeconds: 1 },
  controlServers: {},
  real: (stage) => replaceSeen(stage, stage.access),
  without: (stage) => replaceSeen(stage, stage.without('showing')),
  judge: (real, control) => ({
    cells: real.seen,
    checks: [
      check(
        {
          what: 'other bodies stored where a cell was read that the promoted reader lacked',
          bar: `0 at ${CELLS} at least`,
          result: ({ stored, seen }) => `${grouped(stored)} at ${grouped(seen)}`,
          holds: ({ stored, seen }) => stored === 0 && seen >= CELLS,
          fails: ({ stored }) => stored > 0,
        },
        real,
        control,
      ),
    ],
    notes: [`${grouped(real.back)} cells were brought back before the shards took appends`],
  }),
});

async function replaceSeen(stage: Stage, access: StoreAccess) {
  const random = new Random(stage.world.seed, stage.name, 0);
  const store = await stage.open(access);
  const cells = await bufferedWhileDown(stage, store, random);
  await stage.wait(FOLLOWS_MS);
  // The reader that is promoted gets none of them.
  await stopReceiving(stage.servers, LOSING);
  const seen = await drainAndRead(stage, store, cells);
  let back = 0;
  const { ahead } = await loseDisk(stage, {
    group: LOSING,
    random,
    lagMs: 0,
    // Before any drain reaches the copies again.
    async promoted() {
      await stage.comes(async () => {
        const recovery = await recoverPrimary(store.context, LOSING, { topologyTable: store.topologyTable }).catch(
          () => undefined,
        );
        back += recovery?.appended ?? 0;
        return recovery !== undefined && recovery.closed.length === 0 && recovery.opened > 0;
      }, {});
    },
  });
  let stored = 0;
  for (const cell of seen) {
    const { outcome } = await store.datastore.put({ ...cell, body: { another: true } });
    if (outcome === 'stored') stored += 1;
  }
  return { stored, seen: Math.min(seen.length, ahead), back };
}

/** Puts new cells, and kills their writer until enough of them were answered `buffered`. */
async function bufferedWhileDown(stage: Stage, { datastore }: OpenStore, random: Random): Promise<NewCell[]> {
  const shards = await shardsOf(datastore, LOSING);
  const buffered: NewCell[] = [];
  while (buffered.length < CELLS) {
    await stage.kill(LOSING);
    for (let round = 0; round < 5 && buffered.length < CELLS; round += 1) {
      const cells = Array.from({ length: AT_ONCE }, () => baseCell(rowKeyIn(random, shards, SHARDS), { seen: true }));
      const results = await datastore.batchPut(cells);
      buffered.push(...cells.filter((_, position) => results[position]?.outcome === 'buffered'));
    }
    await stage.untilAllRun();
  }
  return buffered;
}

/** Drains until every cell can be read from the writer. */
async function drainAndRead(stage: Stage, store: OpenStore, cells: readonly NewCell[]): Promise<readonly NewCell[]> {
  const others = (await store.context.topology.groups()).filter(({ name }) => name !== LOSING);
  await stage.comes(async () => {
    for (const { name } of others) await drainAtOnce(store.context, name);
    const found = await Promise.all(cells.map((cell) => store.datastore.get(cell)));
    return found.every(({ cell }) => cell !== null);
  }, {});
  return cells;
}

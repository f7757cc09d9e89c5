import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startProcess } from '../../support/processes/killable-process.ts';
import { Random } from '../../support/random.ts';
import { check, grouped } from '../fault-run.ts';
import { seconds } from '../load/latency.ts';
import { baseCell, rowKeyIn, shardsOf } from '../row-keys.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import type { SilentInput } from './silent-process.ts';

const GROUP = 'group-1';
const SHARDS = 36;
const ROUNDS = 5;
/** A server ends the transaction after two seconds; both tries of a write may wait for it. */
const MOST_MS = 4000;
const LEAST = 50;

export const silentRun = stagedRun({
  name: 'silent',
  promise: 'A client that goes silent in the middle of a transaction closes no shard',
  fault: `SIGSTOP of a writer whose transaction over the shards of a group was just refused, ${ROUNDS} times; others write to these shards`,
  control: 'a session that the server keeps for 9 s',
  alone: true,
  servers: { shards: SHARDS },
  real: (stage) => goSilent(stage, true),
  without: (stage) => goSilent(stage, false),
  judge: (real, control) => ({
    checks: [
      check(
        {
          what: 'writes of others to the shards: not stored; seconds that the longest waited',
          bar: `0 of at least ${LEAST}; <= ${seconds(MOST_MS)}`,
          result: ({ writes, stored, longest }) => `${writes - stored} of ${grouped(writes)}; ${seconds(longest)}`,
          holds: ({ writes, stored, longest }) => writes >= LEAST && stored === writes && longest <= MOST_MS,
        },
        real,
        control,
      ),
    ],
    cells: real.writes,
    notes: [`writes that waited for more than half a second: ${real.waited}, of the control ${control.waited}`],
  }),
});

async function goSilent(stage: Stage, endsSoon: boolean) {
  const random = new Random(stage.world.seed, stage.name, Number(endsSoon));
  const { datastore } = await stage.open();
  const shards = [...(await shardsOf(datastore, GROUP))];
  const newCells = () => shards.map((shard) => baseCell(rowKeyIn(random, new Set([shard]), SHARDS), { by: 'others' }));
  const cells = newCells();
  await datastore.batchPut(cells);
  const waits: number[] = [];
  let stored = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const marker = join(stage.world.folder, `silent-${endsSoon}-${round}`);
    const input: SilentInput = { access: stage.access, cells, marker, endsSoon };
    using silent = startProcess(new URL('silent-process.ts', import.meta.url), stage.world.folder, input);
    await silent.ready;
    await stage.comes(() => existsSync(marker), {});
    await Promise.all(
      newCells().map(async (cell) => {
        const since = performance.now();
        const { outcome } = await datastore.put(cell);
        waits.push(performance.now() - since);
        if (outcome === 'stored') stored += 1;
      }),
    );
    await silent.kill();
  }
  return { writes: waits.length, stored, longest: Math.max(...waits), waited: waits.filter((ms) => ms > 500).length };
}

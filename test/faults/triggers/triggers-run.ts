import type { Check, FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { cutLogs } from './cut-logs.ts';
import { failingCalls } from './failing-calls.ts';
import { killedServers } from './killed-servers.ts';
import { killedTailers } from './killed-tailers.ts';
import { outages } from './outages.ts';
import type { Part } from './part.ts';
import { partialSends } from './partial-sends.ts';
import { pausedHolders } from './paused-holders.ts';
import { rewinds } from './rewinds.ts';
import { WRITERS } from './scene.ts';
import { startTriggerStage } from '../../support/triggers/trigger-stage.ts';

const GROUPS = 2;
const SHARDS = 24;
/** The promotion comes last: what it leaves behind is nobody else's matter. */
const PARTS: readonly Part[] = [
  failingCalls,
  partialSends,
  rewinds,
  pausedHolders,
  killedTailers,
  killedServers,
  outages,
  cutLogs,
];

export const triggersRun: FaultRun = {
  name: 'triggers',
  promise: 'Every cell of a triggered column reaches its consumer at least once, in log order within its shard',
  fault: `${WRITERS} writers; ${PARTS.map(({ fault }) => fault).join('; ')}`,
  control: 'for each of them the protection that it is for is off',

  async run(world: RunWorld): Promise<RunOutcome> {
    await using stage = await startTriggerStage(world, { groups: GROUPS, readers: 1, shards: SHARDS });
    const [checks, notes]: [Check[], string[]] = [[], []];
    let cells = 0;
    for (const part of PARTS) {
      const start = performance.now();
      world.say(part.fault);
      const outcome = await part.carryOut(world, stage);
      world.say(
        `${outcome.cells.toLocaleString('en-US')} cells, ${((performance.now() - start) / 1000).toFixed(0)} s: ${outcome.checks.map(({ figure }) => figure).join('; ')}`,
      );
      checks.push(...outcome.checks);
      notes.push(...outcome.notes);
      cells += outcome.cells;
    }
    return { checks, cells, engine: stage.engine, notes };
  },
};

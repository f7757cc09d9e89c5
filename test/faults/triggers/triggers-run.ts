import { startTriggerStage } from '../../support/triggers/trigger-stage.ts';
import type { FaultRun } from '../fault-run.ts';
import { cutLogs } from './cut-logs.ts';
import { failingCalls } from './failing-calls.ts';
import { killedServers } from './killed-servers.ts';
import { killedTailers } from './killed-tailers.ts';
import { outages } from './outages.ts';
import { inTurn } from './part.ts';
import { partialSends } from './partial-sends.ts';
import { pausedHolders } from './paused-holders.ts';
import { rewinds } from './rewinds.ts';
import { WRITERS } from './scene.ts';

/** The promotion comes last: what it leaves behind is nobody else's matter. */
const PARTS = [failingCalls, partialSends, rewinds, pausedHolders, killedTailers, killedServers, outages, cutLogs];

export const triggersRun: FaultRun = {
  name: 'triggers',
  promise: 'Every cell of a triggered column reaches its consumer at least once, in log order within its shard',
  fault: `${WRITERS} writers; ${PARTS.map(({ fault }) => fault).join('; ')}`,
  control: 'for each of them the protection that it is for is off',

  async run(world) {
    await using stage = await startTriggerStage(world, { groups: 2, readers: 1, shards: 24 });
    return await inTurn({ world, stage }, PARTS);
  },
};

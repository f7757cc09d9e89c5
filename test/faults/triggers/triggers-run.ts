import { startTriggerStage } from '../../support/triggers/trigger-stage.ts';
import type { FaultRun } from '../fault-run.ts';
import { failingCalls } from './bad-calls.ts';
import { killedServers, killedTailers } from './crashes.ts';
import { cutLogs, outages } from './outages.ts';
import { carryOutAll } from './part.ts';
import { WRITERS } from './scene.ts';

/** The promotion comes last, so that its effects meet no other part. */
const PARTS = [failingCalls, killedTailers, killedServers, outages, cutLogs];

export const triggersRun: FaultRun = {
  name: 'triggers',
  promise: 'Every cell of a triggered column reaches its consumer at least once, in log order within its shard',
  fault: `${WRITERS} writers; ${PARTS.map(({ fault }) => fault).join('; ')}`,
  control: 'for each of them the protection that it is for is off',

  async run(world) {
    await using stage = await startTriggerStage(world, { groups: 2, readers: 1, shards: 24 });
    return await carryOutAll({ world, stage }, PARTS);
  },
};

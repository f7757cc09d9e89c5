import { startTriggerStage } from '../../support/triggers/trigger-stage.ts';
import type { FaultRun } from '../fault-run.ts';
import { inTurn } from '../triggers/part.ts';
import { handOver } from './hand-over.ts';
import { manyWorkers } from './many-workers.ts';
import { spreadShards } from './spread-shards.ts';

/** One to a partition. */
const SHARDS = 64;

export const tailersRun: FaultRun = {
  name: 'tailers',
  promise: 'Workers come and go; shards spread over those that are there, and nothing is skipped or waits for long',
  fault: '8 writers; 1, then 4, then 2 tailers; ten hand-overs to successors; 64 workers over 64 partitions',
  control:
    'workers that die and are not taken for dead; workers that are killed instead of succeeded; half as many partitions',
  alone: true,

  async run(world) {
    await using stage = await startTriggerStage(world, { groups: 2, readers: 0, shards: SHARDS });
    return await inTurn({ world, stage }, [spreadShards, handOver, manyWorkers]);
  },
};

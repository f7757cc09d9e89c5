import type { FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { startTriggerStage } from '../../support/triggers/trigger-stage.ts';
import { handOver } from './hand-over.ts';
import { manyWorkers } from './many-workers.ts';
import { spreadShards } from './spread-shards.ts';

const GROUPS = 2;
/** One to a partition. */
const SHARDS = 64;

export const tailersRun: FaultRun = {
  name: 'tailers',
  promise: 'Workers come and go; shards spread over those that are there, and nothing is skipped or waits for long',
  fault: '8 writers; 1, then 4, then 2 tailers; ten hand-overs to successors; 64 workers over 64 partitions',
  control:
    'workers that die and are not taken for dead; workers that are killed instead of succeeded; half as many partitions',
  alone: true,

  async run(world: RunWorld): Promise<RunOutcome> {
    await using stage = await startTriggerStage(world, { groups: GROUPS, readers: 0, shards: SHARDS });
    const outcomes = [
      await spreadShards.carryOut(world, stage),
      await handOver.carryOut(world, stage),
      await manyWorkers.carryOut(world, stage),
    ];
    return {
      checks: outcomes.flatMap(({ checks }) => checks),
      cells: outcomes.reduce((sum, { cells }) => sum + cells, 0),
      engine: stage.engine,
      notes: outcomes.flatMap(({ notes }) => notes),
    };
  },
};

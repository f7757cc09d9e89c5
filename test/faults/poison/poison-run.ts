import type { Check, FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { startTriggerStage, type TriggerStage } from '../../support/triggers/trigger-stage.ts';
import { parkPoison } from './park-poison.ts';
import { stopAndResume } from './stop-and-resume.ts';

const GROUPS = 1;
const SHARDS = 24;

export const poisonRun: FaultRun = {
  name: 'poison',
  promise:
    'A cell that its trigger fails on is parked, and the rest goes on; too many of them stop the trigger; nothing is lost of either',
  fault: '8 writers of cells of which some are poison: the function fails on them every time',
  control: 'nothing is ever parked; nothing ever stops; no retry',

  async run(world: RunWorld): Promise<RunOutcome> {
    await using stage: TriggerStage = await startTriggerStage(world, { groups: GROUPS, readers: 0, shards: SHARDS });
    const [parking, stopping] = await Promise.all([parkPoison(world, stage), stopAndResume(world, stage)]);
    const checks: readonly Check[] = [...parking.checks, ...stopping.checks];
    return {
      checks,
      cells: parking.cells + stopping.cells,
      engine: stage.engine,
      notes: [...parking.notes, ...stopping.notes],
    };
  },
};

import { startTriggerStage } from '../../support/triggers/trigger-stage.ts';
import type { FaultRun } from '../fault-run.ts';
import { together } from '../triggers/part.ts';
import { parkPoison } from './park-poison.ts';
import { stopAndResume } from './stop-and-resume.ts';

export const poisonRun: FaultRun = {
  name: 'poison',
  promise:
    'A cell that its trigger fails on is parked, and the rest goes on; too many of them stop the trigger; nothing is lost of either',
  fault: '8 writers of cells of which some are poison: the function fails on them every time',
  control: 'nothing is ever parked; nothing ever stops; no retry',

  async run(world) {
    await using stage = await startTriggerStage(world, { groups: 1, readers: 0, shards: 24 });
    const setting = { world, stage };
    return together(setting, await Promise.all([parkPoison(setting), stopAndResume(setting)]));
  },
};

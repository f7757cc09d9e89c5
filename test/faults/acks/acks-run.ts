import { grouped } from '../../support/text-table.ts';
import { faultsLine } from '../aftermath.ts';
import type { Check, FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { outcomesLine } from '../load/ledger.ts';
import { carryOutControls } from './acks-controls.ts';
import { carryOut, CUT_SHARE, type Acks } from './acks-stage.ts';
import { toldCheck, wholeCheck } from './told-checks.ts';

const LEAST_IN_DOUBT = 50;

export const acksRun: FaultRun = {
  name: 'acks',
  promise: 'A lost acknowledgement is safe: whoever asks again gets the truth',
  fault: `${CUT_SHARE * 100} % of the answers to changes cut off, appends and buffered copies alike; processes killed in the middle of writes`,
  control: 'nobody tries again what ended unclear; tables without unique key, where it is tried again',

  async run(world: RunWorld): Promise<RunOutcome> {
    const real = await carryOut(world);
    world.say(`the controls: ${acksRun.control}`);
    const controls = await carryOutControls(world);
    const { aftermath, judged, conflicts, cuts, killed } = real;
    return {
      checks: [toldCheck(judged, controls), wholeCheck(real, controls, cuts.appends.cut > 0 && cuts.copies.cut > 0), settled(real)],
      cells: aftermath.acked,
      engine: real.engine,
      notes: [
        outcomesLine(aftermath.outcomes),
        `answers cut off: ${Object.entries(cuts).map(([what, { cut, answered }]) => `${grouped(cut)} of ${grouped(answered)} ${what}`).join(', ')}; circuits opened ${real.circuitsOpened} times`,
        `answered 'buffered' though the cell was on the primary, and told the truth when asked again: ${judged.bufferedThere}`,
        `other bodies that were buffered, and kept as conflicts: ${conflicts.kept}`,
        `processes killed: ${killed.kills}`,
        faultsLine(aftermath),
        ...aftermath.wrongExamples,
        ...judged.examples,
        ...killed.examples,
      ],
    };
  },
};

function settled({ killed }: Acks): Check {
  return {
    what: 'cells in doubt after kills that were not settled by asking again; control: nobody asks again',
    figure: `${killed.unsettled} of ${grouped(killed.inDoubt)}`,
    bar: `0 of at least ${LEAST_IN_DOUBT}`,
    passed: killed.unsettled === 0 && killed.inDoubt >= LEAST_IN_DOUBT,
    control: { figure: `${grouped(killed.there)} there, nobody told`, failed: killed.there > 0 },
  };
}

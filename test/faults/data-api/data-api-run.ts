import { grouped } from '../../support/text-table.ts';
import { toldCheck, wholeCheck } from '../acks/told-checks.ts';
import { faultsLine } from '../aftermath.ts';
import type { Check, FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { outcomesLine } from '../load/ledger.ts';
import { carryOutControls } from './data-api-controls.ts';
import { carryOut } from './data-api-stage.ts';
import { CUT_SHARE, PAUSE, THROTTLED_SHARE } from './weather.ts';
import type { Waited } from './wait-out.ts';

const LEAST_WRITES = 300;

export const dataApiRun: FaultRun = {
  name: 'data-api',
  promise: 'Over the RDS Data API, too, whoever asks again gets the truth, and who comes while a cluster resumes is served',
  fault: `${CUT_SHARE * 100} % of the calls cut off after their commit, ${THROTTLED_SHARE * 100} % throttled; clusters that resume for ${PAUSE.forMs / 1000} s every ${PAUSE.everyMs / 1000} s`,
  control: 'nobody tries again what ended unclear; tables without unique key; nobody waits for a cluster that resumes',

  async run(world: RunWorld): Promise<RunOutcome> {
    const real = await carryOut(world);
    world.say(`the controls: ${dataApiRun.control}`);
    const controls = await carryOutControls(world);
    const { aftermath, judged, conflicts, happened } = real;
    return {
      checks: [toldCheck(judged, controls), wholeCheck(real, controls, happened.every(({ count }) => count > 0)), waited(real.waited, controls.waited)],
      cells: aftermath.acked + real.waited.writes,
      engine: real.engine,
      notes: [
        outcomesLine(aftermath.outcomes),
        `calls: ${happened.map(({ kind, count }) => `${grouped(count)} ${kind}`).join(', ')}; circuits opened ${real.circuitsOpened} times`,
        `other bodies that were buffered, and kept as conflicts: ${conflicts.kept}`,
        faultsLine(aftermath),
        ...aftermath.wrongExamples,
        ...judged.examples,
      ],
    };
  },
};

function waited(real: Waited, control: Waited): Check {
  return {
    what: 'writes not stored while clusters resume and calls are throttled; control: nobody waits',
    figure: `${grouped(real.notStored)} of ${grouped(real.writes)}`,
    bar: `0 of at least ${LEAST_WRITES}`,
    passed: real.notStored === 0 && real.writes >= LEAST_WRITES && real.refusals > 0,
    control: { figure: `${grouped(control.notStored)} of ${grouped(control.writes)}`, failed: control.notStored > 0 },
  };
}

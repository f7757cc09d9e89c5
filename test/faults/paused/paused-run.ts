import { grouped } from '../../support/text-table.ts';
import { faultsLine } from '../aftermath.ts';
import type { Check, FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { outcomesLine } from '../load/ledger.ts';
import { PAUSE_SECONDS, pauseUnderLoad, type Paused } from './paused-stage.ts';
import { seconds, waitsLine, type Waits } from './waits.ts';

const MOST_MS = 1000;
/** Of the writes: one that is refused at once does not wait. */
const MOST_REFUSED = 0.01;
const CONTROL_LEAST_MS = 10_000;
/** Of the writes to a paused group, and of the others, each. */
const LEAST_WRITES = 300;
const LEAST_CELLS = 2000;

export const pausedRun: FaultRun = {
  name: 'paused',
  promise: 'A database that hangs holds nobody up, and what it does late does no harm',
  fault: `SIGSTOP of a group's writer for ${PAUSE_SECONDS} s, under 16 writers to all groups`,
  control: 'no circuit breakers, no time limits; tables without unique key',
  alone: true,

  async run(world: RunWorld): Promise<RunOutcome> {
    const done = await pauseUnderLoad(world);
    const { waited, inPeace, trips, aftermath, judged, unguarded, unlimited } = done;
    return {
      checks: [
        promptly('seconds (p99) that writes to the paused group waited', waited.own, unguarded.own, unlimited.own),
        promptly('seconds (p99) that all other writes waited', waited.others, unguarded.others, unlimited.others),
        whole(done),
      ],
      cells: aftermath.acked,
      engine: done.engine,
      notes: [
        outcomesLine(aftermath.outcomes),
        `in peace: ${waitsLine(inPeace.own)}; others: ${waitsLine(inPeace.others)}`,
        `from 5 s after the stop: ${waitsLine(waited.own)}; others: ${waitsLine(waited.others)}`,
        `… without circuit breakers: ${waitsLine(unguarded.own)}; others: ${waitsLine(unguarded.others)}`,
        `… without time limits, too: ${waitsLine(unlimited.own)}; others: ${waitsLine(unlimited.others)}`,
        `circuits opened: ${trips.map(({ circuit, at }) => `${circuit} at ${seconds(at)} s`).join(', ')}`,
        faultsLine(aftermath),
        ...aftermath.wrongExamples,
        ...judged.examples,
      ],
    };
  },
};

function promptly(what: string, waits: Waits, unguarded: Waits, unlimited: Waits): Check {
  return {
    what: `${what}, refused; control: no circuit breakers; no time limits`,
    figure: `${seconds(waits.p99)}, ${waits.refused} of ${grouped(waits.count)}`,
    bar: `< ${MOST_MS / 1000}, <= ${MOST_REFUSED * 100} % of at least ${LEAST_WRITES}`,
    passed: waits.p99 < MOST_MS && waits.refused <= MOST_REFUSED * waits.count && waits.count >= LEAST_WRITES,
    control: { figure: `${seconds(unguarded.p99)}; ${seconds(unlimited.p99)}`, failed: unguarded.p99 >= MOST_MS && unlimited.p99 > CONTROL_LEAST_MS },
  };
}

function whole({ aftermath, judged, doubled }: Paused): Check {
  const { doubled: twice = 0, ...others } = aftermath.faults;
  const rest = Object.values(others).reduce((sum, count) => sum + count, 0);
  return {
    what: 'acknowledged cells lost, doubled; answers untrue; other faults; control: no unique key',
    figure: `${aftermath.lost}, ${twice}; ${judged.untrue}; ${rest} of ${grouped(aftermath.acked)}`,
    bar: `0, 0; 0; 0 of at least ${grouped(LEAST_CELLS)}`,
    passed: aftermath.lost + twice + judged.untrue + rest === 0 && aftermath.acked >= LEAST_CELLS,
    control: { figure: `${grouped(doubled)} doubled`, failed: doubled > 0 },
  };
}

import { findEngine } from '../../../infra/setup/engine.mjs';
import { faultsLine, lossCheck } from '../aftermath.ts';
import { engineName, UNSAFE_FLUSHING } from '../../support/cluster.ts';
import type { Check, FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { outcomesLine, type Outcomes } from '../load/ledger.ts';
import { damageCells, type DamagedCells } from './damaged-cells.ts';
import { fillDisk, type FullDisk } from './full-disk.ts';
import type { Readings } from './known-cells.ts';

const LEAST_CELLS = 3000;
const LEAST_CONFIRMED = 0.999;

export const damageRun: FaultRun = {
  name: 'damage',
  promise: 'A full disk loses no acknowledged write and keeps none from being taken; damaged pages and bodies are never read as something else',
  fault: "the disk of a group's writer full for some seconds; 5 pages of a table overwritten; bodies changed past the store",
  control: 'no buffer and unsafe flushing; page checksums made to fit; bodies without a checksum of their own',

  async run(world: RunWorld): Promise<RunOutcome> {
    const damaged = await damageCells(world);
    const real = await fillDisk(world, 'full', { bufferCopies: 1, readers: 1, extraArguments: [], killAtOnce: false });
    if (real) world.say(`the control: ${damageRun.control}`);
    const control = real && (await fillDisk(world, 'full-control', { bufferCopies: 0, readers: 0, extraArguments: UNSAFE_FLUSHING, killAtOnce: true }));
    if (!real) world.say('SKIPPED: the full disk. A file system of its own has to be mounted for it, which this user may not');
    const engine = findEngine({ wish: world.engine });
    return {
      checks: [...damageChecks(damaged), ...(real && control ? diskChecks(real, control) : [])],
      cells: damaged.pages.reads + damaged.bodies.reads + (real?.aftermath.acked ?? 0),
      engine: engine ? engineName(engine) : damaged.engine,
      notes: [...damageNotes(damaged), ...(real && control ? diskNotes(real, control) : ['SKIPPED: the full disk, since no file system can be mounted here'])],
    };
  },
};

function damageChecks({ pages, fittedPages, bodies, plainBodies }: DamagedCells): readonly Check[] {
  const check = (what: string, real: Readings, control: Readings): Check => ({
    what,
    figure: readingsOf(real),
    bar: '0, some refused',
    passed: real.wrong === 0 && real.refused > 0,
    control: { figure: readingsOf(control), failed: control.wrong > 0 },
  });
  return [check('wrong reads of damaged pages', pages, fittedPages), check('wrong reads of damaged bodies', bodies, plainBodies)];
}

function diskChecks(real: FullDisk, control: FullDisk): readonly Check[] {
  return [
    lossCheck('acknowledged cells lost, other faults: a full disk', real.aftermath, control.aftermath, LEAST_CELLS),
    {
      what: 'writes confirmed while it was full',
      figure: shareOf(real.whileFull),
      bar: `at least ${LEAST_CONFIRMED * 100} %, some buffered`,
      passed: confirmed(real.whileFull) >= LEAST_CONFIRMED && real.whileFull.buffered > 0,
      control: { figure: shareOf(control.whileFull), failed: confirmed(control.whileFull) < LEAST_CONFIRMED },
    },
  ];
}

function damageNotes({ pages, bodies, deaths }: DamagedCells): readonly string[] {
  return [`refused: of damaged pages ${pages.codes.join(', ')}; of damaged bodies ${bodies.codes.join(', ')}`, `servers that died of damaged pages: ${deaths}`];
}

function diskNotes(real: FullDisk, control: FullDisk): readonly string[] {
  return [
    `while the disk was full, the server ${real.server}; ${outcomesLine(real.whileFull)}`,
    `buffers empty ${real.aftermath.drainSeconds.toFixed(1)} s after all servers ran again`,
    faultsLine(real.aftermath),
    ...real.aftermath.wrongExamples,
    `the control's ${outcomesLine(control.whileFull)}`,
    `the control's ${faultsLine(control.aftermath)}`,
  ];
}

function readingsOf({ wrong, reads, refused }: Readings): string {
  return `${wrong.toLocaleString('en-US')} of ${reads.toLocaleString('en-US')}, ${refused.toLocaleString('en-US')} refused`;
}

function confirmed(outcomes: Outcomes): number {
  const all = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  return all === 0 ? 0 : 1 - outcomes.unavailable / all;
}

function shareOf(outcomes: Outcomes): string {
  return `${(confirmed(outcomes) * 100).toFixed(2)} %, ${outcomes.buffered.toLocaleString('en-US')} buffered`;
}

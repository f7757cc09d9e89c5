import { aftermathNotes, faultsLine, lossCheck } from '../aftermath.ts';
import { check, grouped, sumOf, type Check, type FaultRun } from '../fault-run.ts';
import { UNSAFE_FLUSHING } from '../../support/cluster.ts';
import { outcomesLine, type Outcomes } from '../load/ledger.ts';
import { damageCells, type DamagedCells } from './damaged-cells.ts';
import { fillDisk, type FullDisk } from './full-disk.ts';
import type { Readings } from './known-cells.ts';

const LEAST_CELLS = 3000;
const LEAST_CONFIRMED = 0.999;

export const damageRun: FaultRun = {
  name: 'damage',
  promise:
    'A full disk loses no acknowledged write and keeps none from being taken; damaged pages and bodies are never read as something else',
  fault:
    "the disk of a group's writer full for some seconds; 5 pages of a table overwritten; bodies changed past the store",
  control: 'no buffer and unsafe flushing; page checksums made to fit; bodies without a checksum of their own',

  async run(world) {
    const damaged = await damageCells(world);
    const real = await fillDisk(world, 'damage/full', { killAtOnce: false });
    if (real) world.say(`the control: ${damageRun.control}`);
    const unsafe = { bufferCopies: 0, readers: 0, extraArguments: UNSAFE_FLUSHING, killAtOnce: true };
    const control = real && (await fillDisk(world, 'damage/full-control', unsafe));
    if (!real)
      world.say('SKIPPED: the full disk. A file system of its own has to be mounted for it, which this user may not');
    return {
      checks: [...damageChecks(damaged), ...(real && control ? diskChecks(real, control) : [])],
      cells: damaged.pages.reads + damaged.bodies.reads + (real?.aftermath.acked ?? 0),
      engine: damaged.engine,
      notes: [
        ...damageNotes(damaged),
        ...(real && control
          ? diskNotes(real, control)
          : ['SKIPPED: the full disk, since no file system can be mounted here']),
      ],
    };
  },
};

function damageChecks({ pages, fittedPages, bodies, plainBodies }: DamagedCells): readonly Check[] {
  const bar = {
    bar: '0, some refused',
    figure: ({ wrong, reads, refused }: Readings): string =>
      `${grouped(wrong)} of ${grouped(reads)}, ${grouped(refused)} refused`,
    holds: ({ wrong, refused }: Readings): boolean => wrong === 0 && refused > 0,
    fails: ({ wrong }: Readings): boolean => wrong > 0,
  };
  return [
    check({ what: 'wrong reads of damaged pages', ...bar }, pages, fittedPages),
    check({ what: 'wrong reads of damaged bodies', ...bar }, bodies, plainBodies),
  ];
}

function diskChecks(real: FullDisk, control: FullDisk): readonly Check[] {
  const bar = {
    what: 'writes confirmed while it was full',
    bar: `at least ${LEAST_CONFIRMED * 100} %, some buffered`,
    figure: (outcomes: Outcomes): string =>
      `${(confirmed(outcomes) * 100).toFixed(2)} %, ${grouped(outcomes.buffered)} buffered`,
    holds: (outcomes: Outcomes): boolean => confirmed(outcomes) >= LEAST_CONFIRMED && outcomes.buffered > 0,
    fails: (outcomes: Outcomes): boolean => confirmed(outcomes) < LEAST_CONFIRMED,
  };
  return [
    lossCheck('acknowledged cells lost, other faults: a full disk', real.aftermath, control.aftermath, LEAST_CELLS),
    check(bar, real.whileFull, control.whileFull),
  ];
}

function damageNotes({ pages, bodies, deaths }: DamagedCells): readonly string[] {
  return [
    `refused: of damaged pages ${pages.codes.join(', ')}; of damaged bodies ${bodies.codes.join(', ')}`,
    `servers that died of damaged pages: ${deaths}`,
  ];
}

function diskNotes(real: FullDisk, control: FullDisk): readonly string[] {
  return [
    `while the disk was full, the server ${real.server}; ${outcomesLine(real.whileFull)}`,
    `buffers empty ${real.aftermath.drainSeconds.toFixed(1)} s after all servers ran again`,
    ...aftermathNotes(real.aftermath),
    `the control's ${outcomesLine(control.whileFull)}`,
    `the control's ${faultsLine(control.aftermath)}`,
  ];
}

function confirmed(outcomes: Outcomes): number {
  const all = sumOf(Object.values(outcomes));
  return all === 0 ? 0 : 1 - outcomes.unavailable / all;
}

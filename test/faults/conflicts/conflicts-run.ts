import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import type { Check, FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import type { DrainCounts } from '../../support/workers/drain-thread.ts';
import { startStage, type Stage } from '../../support/indexed/stage.ts';
import { DATASTORE, type StoreAccess } from '../../support/store-access.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { contend, killWriters, loseOneDisk, type Contended } from './contend.ts';
import { WRITERS } from './race.ts';

const GROUPS = 3;
const SHARDS = 24;
const RESTART_SECONDS = 1;
const KILLS = 5;
/** The race goes on until so many writes are answered. */
const ANSWERS = 3000;
const CONTROL_MS = 3000;
/** What the figures have to be of, at least. */
const LEAST = { stored: 500, conflict: 300, buffered: 100, samples: 500 };

export const conflictsRun: FaultRun = {
  name: 'conflicts',
  promise: 'A cell never changes: of two bodies one is stored, and each writer is told the truth',
  fault: `${WRITERS} writers race with different bodies for the same addresses; kill -9 of ${KILLS} writers, then one dies with its disk, a reader without its last cells is promoted, and the drain is away for some seconds`,
  control: 'no copies; copies of refused writes stay; a drain that looks at addresses only',

  async run(world: RunWorld): Promise<RunOutcome> {
    const { say } = world;
    const real = await inStage(world, 'real', async (stage, access) => {
      const killed = await underDrain(access, () => contend(world, { stage, access, part: 'killed', answers: ANSWERS, fault: (random) => killWriters(stage, KILLS, random, world) }));
      // The drain has died, too: until the next one takes over, the promoted reader lacks what only the buffers have.
      const lost = await contend(world, {
        stage, access, part: 'lost', answers: ANSWERS,
        fault: (random) => loseOneDisk(stage, access, 'group-1', random, world),
        settle: (work) => underDrain(access, work),
      });
      return { killed, lost, engine: stage.engine };
    });
    say(`the control: ${conflictsRun.control}`);
    const control = await inStage(world, 'control', (stage, access) => controls(world, stage, access));
    const { killed, lost } = real;
    return {
      checks: checks(killed, lost, control),
      cells: killed.verdicts.cells.stored + lost.verdicts.cells.stored,
      engine: real.engine,
      notes: [
        ...notesOf('kills', killed),
        ...notesOf('lost disk', lost),
        ...Object.entries(control).flatMap(([name, one]) => notesOf(`control ${name}`, one)),
      ],
    };
  },
};

async function underDrain<T>(access: StoreAccess, work: () => Promise<T>): Promise<T> {
  using drain = startWorker<StoreAccess, 'stop', DrainCounts, DrainCounts>(new URL('../../support/workers/drain-thread.ts', import.meta.url), access);
  await drain.ready;
  const done = await work();
  // Throws what it died of, if it did.
  void drain.progress;
  return done;
}

type Controls = Readonly<Record<'unwithdrawn' | 'keyOnly' | 'uncopied', Contended>>;

async function controls(world: RunWorld, stage: Stage, access: StoreAccess): Promise<Controls> {
  const wait = async (): Promise<undefined> => sleep(CONTROL_MS, undefined, { signal: world.signal });
  // Nothing drains yet: what was not taken back is there.
  const unwithdrawn = await contend(world, { stage, access, part: 'unwithdrawn', withdraws: false, drained: false, fault: wait });
  using drain = startWorker<StoreAccess, 'stop', { readonly alike: number }, undefined>(new URL('key-only-drain.ts', import.meta.url), access);
  await drain.ready;
  const keyOnly = await contend(world, { stage, access, part: 'key only', fault: (random) => killWriters(stage, 1, random, world) });
  if (!drain.progress) throw new Error('the drain that looks at addresses only compared none');
  const uncopied = await contend(world, {
    stage, access: { ...access, bufferCopies: 0 }, part: 'uncopied',
    // Nothing brings back what has no copy: no shard's cells are away for a while only.
    fault: async (random) => ({ ...(await loseOneDisk(stage, access, 'group-1', random, world)), shards: new Set() }),
  });
  return { unwithdrawn, keyOnly, uncopied };
}

function checks(killed: Contended, lost: Contended, { unwithdrawn, keyOnly, uncopied }: Controls): readonly Check[] {
  return [
    check('stored cells that are not so in the end', LEAST.stored, storedGone(killed), storedGone(uncopied)),
    check('refused bodies left behind', LEAST.conflict, refusedKept(killed), refusedKept(unwithdrawn)),
    check('buffered writes neither stored nor listed', LEAST.buffered, bufferedGone(killed), bufferedGone(keyOnly)),
    check('stored cells changed or missing when looked at', LEAST.samples, samplesWrong(killed), samplesWrong(uncopied)),
    check('after the lost disk: stored cells that are not so in the end', LEAST.stored, storedGone(lost), storedGone(uncopied)),
    check('… refused bodies left behind', LEAST.conflict, refusedKept(lost), refusedKept(unwithdrawn)),
    check('… stored cells changed or missing when looked at', LEAST.samples, samplesWrong(lost), samplesWrong(uncopied)),
  ];
}

interface Figure {
  readonly wrong: number;
  readonly of: number;
}

function check(what: string, least: number, real: Figure, control: Figure): Check {
  const text = ({ wrong, of }: Figure): string => `${wrong.toLocaleString('en-US')} of ${of.toLocaleString('en-US')}`;
  return {
    what,
    figure: text(real),
    bar: `0 of at least ${least.toLocaleString('en-US')}`,
    passed: real.wrong === 0 && real.of >= least,
    control: { figure: text(control), failed: control.wrong > 0 },
  };
}

function storedGone({ verdicts }: Contended): Figure {
  return { wrong: verdicts.storedGone + verdicts.storedBeforeGone, of: verdicts.cells.stored };
}

function refusedKept({ verdicts }: Contended): Figure {
  return { wrong: verdicts.refusedStored + verdicts.refusedCopied, of: verdicts.cells.conflict };
}

function bufferedGone({ verdicts }: Contended): Figure {
  return { wrong: verdicts.bufferedGone, of: verdicts.cells.buffered };
}

function samplesWrong({ samples }: Contended): Figure {
  return { wrong: samples.changed + samples.missing, of: samples.samples };
}

function notesOf(name: string, { verdicts, samples }: Contended): readonly string[] {
  const { cells, goneFor, ...wrong } = verdicts;
  const list = (figures: object): string => Object.entries(figures).map(([what, count]) => `${what} ${(count as number).toLocaleString('en-US')}`).join(', ');
  return [`${name}: cells by answer: ${list(cells)}`, `${name}: ${list(wrong)}; ${list(samples)}`, ...(wrong.storedGone > 0 ? [`${name}: bodies there instead, by answer: ${list(goneFor)}`] : [])];
}

async function inStage<T>({ folder, engine }: RunWorld, part: string, work: (stage: Stage, access: StoreAccess) => Promise<T>): Promise<T> {
  await using stage = await startStage({
    folder: join(folder, part), engine, groups: GROUPS, readers: 1, shards: SHARDS, bufferCopies: 1, restartAfterSeconds: RESTART_SECONDS, promotes: true,
  });
  return await work(stage, await stage.define(DATASTORE, []));
}

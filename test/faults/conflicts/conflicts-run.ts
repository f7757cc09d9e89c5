import { countsLine, noneOf, type Check, type FaultRun, type RunWorld, type Share } from '../fault-run.ts';
import { Stage } from '../stage.ts';
import { contend, killWriters, loseOneDisk, WRITERS, type Contended } from './contend.ts';

const CLUSTER = { shards: 24, restartAfterSeconds: 1, promotes: true };
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

  async run(world) {
    const { killed, lost, engine } = await raceOn(world);
    world.say(`the control: ${conflictsRun.control}`);
    const control = await controls(world);
    return {
      checks: checks(killed, lost, control),
      cells: killed.verdicts.cells.stored + lost.verdicts.cells.stored,
      engine,
      notes: [
        ...notesOf('kills', killed),
        ...notesOf('lost disk', lost),
        ...Object.entries(control).flatMap(([name, one]) => notesOf(`control ${name}`, one)),
      ],
    };
  },
};

async function raceOn(world: RunWorld) {
  await using stage = await Stage.start(world, 'conflicts/real', CLUSTER);
  const killed = await underDrain(stage, () =>
    contend(stage, { part: 'killed', answers: ANSWERS, fault: (random) => killWriters(stage, KILLS, random) }),
  );
  // The drain has died, too: until the next one takes over, the promoted reader lacks what only the buffers have.
  const lost = await contend(stage, {
    part: 'lost',
    answers: ANSWERS,
    fault: (random) => loseOneDisk(stage, 'group-1', random),
    settle: (work) => underDrain(stage, work),
  });
  return { killed, lost, engine: stage.engine };
}

async function underDrain<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
  using drain = await stage.drain();
  const done = await work();
  // Throws what it died of, if it did.
  void drain.progress;
  return done;
}

type Controls = Readonly<Record<'unwithdrawn' | 'keyOnly' | 'uncopied', Contended>>;

async function controls(world: RunWorld): Promise<Controls> {
  await using stage = await Stage.start(world, 'conflicts/control', CLUSTER);
  const varied = (module: string) => stage.through(new URL(module, import.meta.url));
  const fault = async (): Promise<undefined> => void (await stage.wait(CONTROL_MS));
  // Nothing drains yet: what was not taken back is there.
  const access = varied('without-withdrawing.ts');
  const unwithdrawn = await contend(stage, { part: 'unwithdrawn', access, drained: false, fault });
  const drain = await stage.drain({ access: varied('key-only-drain.ts') });
  const keyOnly = await contend(stage, { part: 'key only', fault: (random) => killWriters(stage, KILLS, random) });
  if (!drain.progress?.varied) throw new Error('the drain that looks at addresses only compared none');
  const uncopied = await contend(stage, {
    part: 'uncopied',
    access: { ...stage.access, bufferCopies: 0 },
    // Nothing brings back what has no copy: no shard's cells are away for a while only.
    fault: async (random) => ({ ...(await loseOneDisk(stage, 'group-1', random)), shards: new Set() }),
  });
  return { unwithdrawn, keyOnly, uncopied };
}

function checks(killed: Contended, lost: Contended, { unwithdrawn, keyOnly, uncopied }: Controls): readonly Check[] {
  return [
    noneOf('stored cells that are not so in the end', LEAST.stored, storedGone(killed), storedGone(uncopied)),
    noneOf('refused bodies left behind', LEAST.conflict, refusedKept(killed), refusedKept(unwithdrawn)),
    noneOf('buffered writes neither stored nor listed', LEAST.buffered, bufferedGone(killed), bufferedGone(keyOnly)),
    noneOf('stored cells changed or missing when looked at', LEAST.samples, ...both(samplesWrong, killed, uncopied)),
    noneOf(
      'after the lost disk: stored cells that are not so in the end',
      LEAST.stored,
      ...both(storedGone, lost, uncopied),
    ),
    noneOf('… refused bodies left behind', LEAST.conflict, refusedKept(lost), refusedKept(unwithdrawn)),
    noneOf('… stored cells changed or missing when looked at', LEAST.samples, ...both(samplesWrong, lost, uncopied)),
  ];
}

function both(shareOf: (of: Contended) => Share, real: Contended, control: Contended): [Share, Share] {
  return [shareOf(real), shareOf(control)];
}

function storedGone({ verdicts }: Contended): Share {
  return { wrong: verdicts.storedGone + verdicts.storedBeforeGone, of: verdicts.cells.stored };
}

function refusedKept({ verdicts }: Contended): Share {
  return { wrong: verdicts.refusedStored + verdicts.refusedCopied, of: verdicts.cells.conflict };
}

function bufferedGone({ verdicts }: Contended): Share {
  return { wrong: verdicts.bufferedGone, of: verdicts.cells.buffered };
}

function samplesWrong({ samples }: Contended): Share {
  return { wrong: samples.changed + samples.missing, of: samples.samples };
}

function notesOf(name: string, { verdicts, samples }: Contended): readonly string[] {
  const { cells, goneFor, ...wrong } = verdicts;
  return [
    `${name}: cells by answer: ${countsLine(cells)}`,
    `${name}: ${countsLine(wrong)}; ${countsLine(samples)}`,
    ...(wrong.storedGone > 0 ? [`${name}: bodies there instead, by answer: ${countsLine(goneFor)}`] : []),
  ];
}

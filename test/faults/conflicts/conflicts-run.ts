import { addressKey } from '../../../shared/address.ts';
import type { BufferOperations } from '../../../shared/api/buffer.ts';
import { Random } from '../../support/random.ts';
import type { StoreAccess } from '../../support/store-access.ts';
import { untilBuffersEmpty } from '../aftermath.ts';
import { countsLine, grouped, noneOf, type Share } from '../fault-run.ts';
import type { Answer } from '../load/ask.ts';
import type { Loaded } from '../load/load-thread.ts';
import type { Load } from '../load/start-load.ts';
import { loseDisk } from '../losses/lose-disk.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { markOf } from '../stored-cells.ts';
import { judge, judgeSamples, keptBodies } from './verdicts.ts';

const KILLS = 5;
/** The race continues until this many writes are answered. */
const ANSWERS = 3000;
const CONTROL_MS = 3000;
const WRITERS = 12;
const THREADS = 3;
const PAUSE_MS = [800, 2000] as const;
const LAG_MS = 4000;
const AFTERWARDS_MS = 2000;
/** Writes in doubt are listed half a minute after their primary's loss. */
const DECIDE_EVERY_MS = 15_000;
const MOST_DECISIONS = 8;
const LEAST = { stored: 500, conflict: 300, buffered: 100, samples: 500 };

export const conflictsRun = stagedRun({
  name: 'conflicts',
  promise: 'A cell never changes: of two bodies one is stored, and each writer is told the truth',
  fault: `${WRITERS} writers race with different bodies for the same addresses; kill -9 of ${KILLS} writers or more; a disk lost and a lagging reader promoted; the drain briefly down`,
  control: 'no copies; copies of refused writes stay; a drain that compares only addresses',
  servers: { shards: 24, restartAfterSeconds: 1, promotes: true },
  controlServers: {},
  async real(stage) {
    const killed = await underDrain(stage, () =>
      contend(stage, {
        part: 'killed',
        answers: ANSWERS,
        fault: (random, race) => killWriters(stage, random, () => race.answers >= ANSWERS),
      }),
    );
    // The drain is dead too: until its successor starts, the promoted reader lacks cells that only the buffers have.
    const lost = await contend(stage, {
      part: 'lost',
      answers: ANSWERS,
      fault: (random) => loseOneDisk(stage, random),
      settle: (work) => underDrain(stage, work),
    });
    return { killed, lost };
  },
  async without(stage) {
    const fault = async (): Promise<undefined> => void (await stage.wait(CONTROL_MS));
    // No drain runs yet: copies that were not withdrawn are there.
    const access = stage.without('withdrawing');
    const unwithdrawn = await contend(stage, { part: 'unwithdrawn', access, drained: false, fault });
    const drain = await stage.drain({ access: stage.without('comparingBodies') });
    const keyOnly = await contend(stage, { part: 'key only', fault: (random) => killWriters(stage, random) });
    if (!drain.progress?.varied) throw new Error('the drain that looks at addresses only compared none');
    const uncopied = await contend(stage, {
      part: 'uncopied',
      access: { ...stage.access, bufferCopies: 0 },
      // Without copies no lost cell comes back: no shard's cells are missing only for a while.
      fault: async (random) => ({ ...(await loseOneDisk(stage, random)), shards: new Set() }),
    });
    return { unwithdrawn, keyOnly, uncopied };
  },
  judge({ killed, lost }, { unwithdrawn, keyOnly, uncopied }) {
    const everyRow = { killed, lost, 'control unwithdrawn': unwithdrawn, 'control key only': keyOnly };
    const checksOf = (one: Contended, after: string) => [
      noneOf(`${after}stored cells that are not so in the end`, LEAST.stored, storedGone(one), storedGone(uncopied)),
      noneOf(`${after}refused bodies left behind`, LEAST.conflict, refusedKept(one), refusedKept(unwithdrawn)),
      noneOf(
        `${after}stored cells changed or missing when looked at`,
        LEAST.samples,
        samplesWrong(one),
        samplesWrong(uncopied),
      ),
    ];
    return {
      checks: [
        ...checksOf(killed, ''),
        noneOf(
          'buffered writes neither stored nor listed',
          LEAST.buffered,
          bufferedGone(killed),
          bufferedGone(keyOnly),
        ),
        ...checksOf(lost, 'after the lost disk: '),
      ],
      cells: killed.verdicts.cells.stored + lost.verdicts.cells.stored,
      notes: Object.entries({ ...everyRow, 'control uncopied': uncopied }).flatMap(([name, one]) => notesOf(name, one)),
    };
  },
});

async function underDrain<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
  using drain = await stage.drain();
  const done = await work();
  // Throws the error that the drain died of, if any.
  void drain.progress;
  return done;
}

const storedGone = ({ verdicts }: Contended): Share => ({
  wrong: verdicts.storedGone + verdicts.storedBeforeGone,
  of: verdicts.cells.stored,
});
const refusedKept = ({ verdicts }: Contended): Share => ({
  wrong: verdicts.refusedStored + verdicts.refusedCopied,
  of: verdicts.cells.conflict,
});
const bufferedGone = ({ verdicts }: Contended): Share => ({
  wrong: verdicts.bufferedGone,
  of: verdicts.cells.buffered,
});
const samplesWrong = ({ samples }: Contended): Share => ({
  wrong: samples.changed + samples.missing,
  of: samples.samples,
});

function notesOf(name: string, { verdicts, samples }: Contended): readonly string[] {
  const { cells, goneFor, ...wrong } = verdicts;
  return [
    `${name}: cells by answer: ${countsLine(cells)}`,
    `${name}: ${countsLine(wrong)}; ${countsLine(samples)}`,
    ...(wrong.storedGone > 0 ? [`${name}: bodies there instead, by answer: ${countsLine(goneFor)}`] : []),
  ];
}

interface Contention {
  /** Also determines the contested addresses. */
  readonly part: string;
  readonly access?: StoreAccess;
  /** Off without a drain. */
  readonly drained?: boolean;
  /** The race continues until this many writes are answered. @default it ends with the fault */
  readonly answers?: number;
  /** Injects the fault. Returns when and of which shards cells may be missing, if any. */
  readonly fault: (random: Random, race: Load) => Promise<Missing | undefined>;
  /** Runs the work after the fault: the rest of the race, and the wait for the buffers. @default runs it as it is */
  readonly settle?: (work: () => Promise<Loaded>) => Promise<Loaded>;
}

/** Shards whose cells were on a lost disk, from a time (epoch milliseconds) until the buffers are empty. */
interface Missing {
  readonly group: string;
  readonly since: number;
  readonly shards: ReadonlySet<number>;
}

type Contended = Awaited<ReturnType<typeof contend>>;

async function contend(stage: Stage, options: Contention) {
  const { part, access = stage.access, drained = true, answers: least = 0, fault, settle = (work) => work() } = options;
  const { seed } = stage.world;
  const race = await stage.load({
    writers: WRITERS,
    threads: THREADS,
    cells: { contestedSince: Date.now() },
    checksBack: true,
    access,
    seed: `${seed} ${part}`,
  });
  const missing = await fault(new Random(seed, `faults ${part}`, 0), race);
  const { answers, samples } = await settle(async () => {
    await stage.wait(AFTERWARDS_MS);
    await stage.comes(() => race.answers >= least, {});
    const raced = await race.stop();
    if (drained) await untilDrained(stage, raced.answers);
    return raced;
  });
  stage.say(`${part}: ${grouped(answers.length)} answers`);
  return {
    verdicts: judge(answers, await keptBodies(access.groups), missing?.group),
    samples: judgeSamples(
      samples,
      (shard, at) => missing !== undefined && at >= missing.since && missing.shards.has(shard),
    ),
  };
}

/** Waits for the buffers to empty. A lost writer may have stored both bodies of an address. */
async function untilDrained(stage: Stage, answers: readonly Answer[]): Promise<void> {
  const { datastore } = await stage.open();
  for (let decisions = 0; decisions < MOST_DECISIONS; decisions += 1) {
    const { rows } = await untilBuffersEmpty(datastore, DECIDE_EVERY_MS, stage.world.signal);
    if (rows === 0) return;
    const decided = await keepAcknowledged(datastore, answers);
    stage.say(`${grouped(rows)} writes wait; ${decided} addresses in doubt are decided`);
  }
  throw new Error('writes are left in the buffer');
}

/**
 * Decides writes in doubt like an operator who asks the applications: keeps the body that an application was told is
 * stored, else any. Returns the count of addresses.
 */
async function keepAcknowledged(
  datastore: Pick<BufferOperations, 'listWritesInDoubt' | 'keepWritesInDoubt'>,
  answers: readonly Answer[],
): Promise<number> {
  const stored = new Set(
    answers.filter(({ outcome }) => outcome === 'stored' || outcome === 'stored_before').map(({ mark }) => mark),
  );
  const { in_doubt } = await datastore.listWritesInDoubt();
  const ids = [...Map.groupBy(in_doubt, addressKey).values()].flatMap(
    (writes) => (writes.find((write) => stored.has(markOf(write))) ?? writes[0])?.id ?? [],
  );
  if (ids.length > 0) await datastore.keepWritesInDoubt({ ids });
  return ids.length;
}

/** Kills writers in turn over the groups, at least this many and until it is enough; each restarts by itself. */
async function killWriters(stage: Stage, random: Random, isEnough = () => true): Promise<undefined> {
  for (let kill = 0; kill < KILLS || !isEnough(); kill += 1) {
    await stage.wait(random.between(...PAUSE_MS));
    stage.say(`kill -9 of ${await stage.kill(stage.groupInTurn(kill))}`);
    await stage.untilAllRun();
  }
  return undefined;
}

async function loseOneDisk(stage: Stage, random: Random): Promise<Missing> {
  const { group, lostAt, cut } = await loseDisk(stage, { group: 'group-1', random, lagMs: LAG_MS });
  return { group, since: lostAt, shards: new Set(cut.keys()) };
}

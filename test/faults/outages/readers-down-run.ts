import { Random } from '../../support/random.ts';
import { otherFaults } from '../aftermath.ts';
import { changing } from '../changed-clients.ts';
import { check, grouped, sumOf, type Check, type Share } from '../fault-run.ts';
import type { Answer } from '../load/ask.ts';
import { begunIn, latencyLine, p99, type Phase } from '../load/latency.ts';
import { allWritten, noOutcomes } from '../load/ledger.ts';
import { bearableLoad } from '../load/paced.ts';
import { shardsOf } from '../row-keys.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { comesToDrained, countRows, openBufferTables, tryPuts, type BufferTables } from './buffer-tables.ts';
import { readerOnly, startReads, writeCells, type ReaderRead } from './reader-reads.ts';

const GROUP = 'group-1';
/** The length of all outages; they take turns with normal times, so that other load affects both. */
const DOWN_SECONDS = 60;
const OUTAGES = 3;
const EMPTY_PATIENCE_MS = 60_000;
const PUTS = 100;
const MOST_SLOWER = 1.2;
const LEAST_READS = 100;
const MOST_EMPTY_SECONDS = 60;

export const readersDownRun = stagedRun({
  name: 'readers-down',
  promise:
    'Without readers a group takes writes as before, its writer answers reads, and buffered writes are drained once they are back',
  fault: `all readers of a group down for ${DOWN_SECONDS} s, in turn with normal times, under a steady load`,
  control: 'writes that need a reader; reads of readers only; the readers still down',
  alone: true,
  servers: { shards: 48 },
  async real(stage) {
    const { seed, seconds = DOWN_SECONDS } = stage.world;
    const tables = stage.use(openBufferTables(stage.access.groups));
    const store = await stage.open({ sql: {} });
    const shards = await shardsOf(store.datastore, GROUP);
    const cells = await writeCells(store, shards, seed);
    await stage.drain();
    const load = await bearableLoad(stage);
    const { reads } = stage.use(await startReads(stage.access, cells, { read: 'reader' }));
    const readersReads = stage.use(await startReads(stage.access, cells, { read: 'reader', wrap: readerOnly }));
    const phaseMs = (seconds * 1000) / OUTAGES;
    const inNormalTimes = async (milliseconds: number): Promise<Phase> => {
      const from = Date.now();
      await stage.wait(milliseconds);
      return { from, to: Date.now() };
    };
    const normal = [await inNormalTimes(phaseMs / 2)];
    const down: ReadersDown[] = [];
    for (let outage = 1; outage <= OUTAGES; outage += 1) {
      down.push(await withoutReaders(stage, tables, () => stage.wait(phaseMs)));
      normal.push(await inNormalTimes(outage < OUTAGES ? phaseMs : phaseMs / 2));
    }
    return { tables, shards, load, normal, down, reads, readerOnlyReads: readersReads.reads };
  },
  /** Repeats it with writes that need a reader. */
  async without(stage, { tables, shards, load }) {
    const { access } = stage;
    let readerBound = noOutcomes();
    await withoutReaders(stage, tables, async () => {
      const random = new Random(stage.world.seed, 'reader bound', 0);
      readerBound = await tryPuts({ access, shards, puts: PUTS, random, wrap: readerBoundClient });
    });
    const { written, answers } = await load.stop();
    const aftermath = await stage.inspect(allWritten([written, load.before]));
    return { readerBound, answers, aftermath };
  },
  judge({ normal, down, shards, reads, readerOnlyReads }, { readerBound, answers, aftermath }) {
    const slowest = Math.max(...down.map(({ emptySeconds }) => emptySeconds));
    const waited = Math.min(...down.map((one) => one.waited));
    const wrong = aftermath.lost + otherFaults(aftermath);
    const writes = (phases: readonly Phase[], of?: ReadonlySet<number>) =>
      phases.flatMap((phase) => begunIn(answers, phase, of));
    const tried = sumOf(Object.values(readerBound));
    return {
      checks: [
        writesCheck(writes(normal), writes(down), { wrong: tried - readerBound.stored, of: tried }),
        readsCheck(down, reads, readerOnlyReads),
        {
          // The control asks the same with the readers still down.
          what: 'seconds until they are drained; cells lost, other faults; control: the readers still down',
          result: `${slowest.toFixed(1)}; ${aftermath.lost}, ${otherFaults(aftermath)}`,
          bar: `< ${MOST_EMPTY_SECONDS}; 0, 0`,
          passed: slowest < MOST_EMPTY_SECONDS && wrong === 0,
          control: { result: `${grouped(waited)} rows left`, failed: waited > 0 },
        },
      ],
      notes: [
        `writes in normal times: ${latencyLine(writes(normal))}; to the group: ${latencyLine(writes(normal, shards))}`,
        `… without readers: ${latencyLine(writes(down))}; to the group: ${latencyLine(writes(down, shards))}`,
      ],
    };
  },
});

function writesCheck(normal: readonly Answer[], meanwhile: readonly Answer[], control: Share): Check {
  const stored = meanwhile.filter(({ outcome }) => outcome === 'stored').length;
  const slower = p99(meanwhile) / p99(normal);
  return {
    what: 'writes stored without readers, their p99 in normal ones; control: writes that need a reader',
    result: `${grouped(stored)} of ${grouped(meanwhile.length)}, ${slower.toFixed(2)}`,
    bar: `all, <= ${MOST_SLOWER}`,
    passed: stored > 0 && stored === meanwhile.length && slower <= MOST_SLOWER,
    control: { result: `${control.of - control.wrong} of ${control.of}`, failed: control.wrong > 0 },
  };
}

function readsCheck(down: readonly Phase[], reads: readonly ReaderRead[], ofReaders: readonly ReaderRead[]): Check {
  const answered = (all: readonly ReaderRead[], isMeant: (read: ReaderRead) => boolean): Share => {
    const asked = all.filter(({ sentAt }) => down.some(({ from, to }) => sentAt >= from && sentAt < to));
    return { wrong: asked.filter((read) => !isMeant(read)).length, of: asked.length };
  };
  return check(
    {
      what: 'reads asked of a reader, answered by the writer; control: reads of readers only',
      bar: `all of at least ${LEAST_READS}`,
      result: ({ wrong, of }) => `${grouped(of - wrong)} of ${grouped(of)}`,
      holds: ({ wrong, of }) => of >= LEAST_READS && wrong === 0,
      fails: ({ wrong }) => wrong > 0,
    },
    answered(reads, ({ servedBy, isRight }) => servedBy === 'writer' && isRight),
    answered(ofReaders, ({ isRight }) => isRight),
  );
}

/** Reports a write as stored only if a reader can be reached as well. */
const readerBoundClient = changing(async (statement, client) => {
  const done = await client.change(statement);
  await client.select({ sql: 'SELECT 1', parameters: [] }, 'reader');
  return done;
});

type ReadersDown = Awaited<ReturnType<typeof withoutReaders>>;

async function withoutReaders(stage: Stage, tables: BufferTables, meanwhile: () => Promise<void>) {
  const { servers } = stage;
  const readers = servers.status().filter(({ group, role }) => group === GROUP && role === 'reader');
  for (const { node } of readers) await servers.kill(node);
  const from = Date.now();
  await meanwhile();
  const to = Date.now();
  const waited = await countRows(tables, tables.groups);
  for (const { node } of readers) await servers.restart(node);
  await stage.untilAllRun();
  const backAt = Date.now();
  // From the readers' return until all rows buffered before are drained.
  const isEmpty = await comesToDrained(stage, tables, { before: backAt, patienceMs: EMPTY_PATIENCE_MS });
  const emptySeconds = isEmpty ? (Date.now() - backAt) / 1000 : Number.POSITIVE_INFINITY;
  stage.say(
    `the readers of ${GROUP} were down for ${((to - from) / 1000).toFixed(0)} s, ${grouped(waited)} rows waited for them, the last until ${emptySeconds.toFixed(1)} s after`,
  );
  return { from, to, waited, emptySeconds };
}

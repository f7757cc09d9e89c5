import type { RunWorld } from '../../support/run-world.ts';
import { grouped } from '../../support/text-table.ts';
import type { Aftermath } from '../aftermath.ts';
import type { Answer } from '../load/ask.ts';
import type { Phase } from '../load/latency.ts';
import { allWritten, noOutcomes, type Outcomes } from '../load/ledger.ts';
import { bearableLoad } from '../load/paced.ts';
import { comesToDrained, openBufferTables, type BufferTables } from './buffer-tables.ts';
import { shardsOf } from '../row-keys.ts';
import { Stage } from '../stage.ts';
import { takeSnapshot, type BufferSnapshot } from './early-deletes.ts';
import { readerOnly, startReaderReads, writeCells, type ReaderRead } from './reader-reads.ts';
import { Random } from '../../support/random.ts';
import { changing } from '../changed-clients.ts';
import { tryPuts } from './try-puts.ts';

const SHARDS = 48;
const GROUP = 'group-1';
/** All outages together; they take turns with normal times, so that what else the machine does falls on both. */
export const DOWN_SECONDS = 60;
const OUTAGES = 3;
/**
 * The control's drain takes the leases of the one before it when these have run out, and looks at rows of two seconds.
 */
const CONTROL_SECONDS = 18;
const EMPTY_PATIENCE_MS = 60_000;
/** Of a store that needs a reader. */
const PUTS = 100;

/** A time without readers. */
export interface ReadersDown extends Phase {
  /** What was in the buffer tables just before the readers came back. */
  readonly snapshot: BufferSnapshot;
  /** From the readers' return until nothing waited that was buffered before; Infinity where that did not come. */
  readonly emptySeconds: number;
}

export interface ReadersStory {
  readonly engine: string;
  readonly shards: ReadonlySet<number>;
  readonly writes: readonly Answer[];
  readonly normal: readonly Phase[];
  readonly down: readonly ReadersDown[];
  readonly reads: readonly ReaderRead[];
  readonly readerOnlyReads: readonly ReaderRead[];
  /** Of puts that need a reader. */
  readonly readerBound: Outcomes;
  /** With a drain that asks the writer only. */
  readonly control: ReadersDown;
  readonly aftermath: Aftermath;
}

/** Normal times and times without the readers of a group, in turn, under one load. */
export async function readersStory(world: RunWorld): Promise<ReadersStory> {
  const { seed, say, seconds = DOWN_SECONDS } = world;
  await using stage = await Stage.start(world, 'readers-down', { shards: SHARDS });
  const { access, engine } = stage;
  const tables = stage.use(openBufferTables(access.groups));
  const store = await stage.open({ sql: {} });
  const shards = await shardsOf(store.datastore, GROUP);
  const cells = await writeCells(store, shards, seed);
  const drain = await stage.drain();
  const load = await bearableLoad(stage);
  await using reading = await startReaderReads(access, cells);
  await using readingReaders = await startReaderReads(access, cells, readerOnly);

  const phaseMs = (seconds * 1000) / OUTAGES;
  const inNormalTimes = async (milliseconds: number): Promise<Phase> => {
    const from = Date.now();
    await stage.wait(milliseconds);
    return { from, to: Date.now() };
  };
  const normal = [await inNormalTimes(phaseMs / 2)];
  const down: ReadersDown[] = [];
  for (let outage = 1; outage <= OUTAGES; outage += 1) {
    down.push(await withoutReaders(stage, tables, shards, () => stage.wait(phaseMs)));
    normal.push(await inNormalTimes(outage < OUTAGES ? phaseMs : phaseMs / 2));
  }

  say('the control: a drain that asks the writer only');
  let readerBound = noOutcomes();
  const control = await withoutReaders(stage, tables, shards, async () => {
    const ended = stage.wait(CONTROL_SECONDS * 1000);
    drain[Symbol.dispose]();
    await stage.drain({ access: stage.without('readers') });
    const random = new Random(seed, 'reader bound', 0);
    readerBound = await tryPuts({ access, shards, puts: PUTS, random, wrap: readerBoundClient });
    await ended;
  });

  const { written, answers: writes } = await load.stop();
  const aftermath = await stage.inspect(allWritten([written, load.before]));
  const [reads, readerOnlyReads] = [reading.reads, readingReaders.reads];
  return { engine, shards, writes, normal, down, reads, readerOnlyReads, readerBound, control, aftermath };
}

/** Takes a write for stored only when a reader can be asked, too. */
const readerBoundClient = changing(async (statement, client) => {
  const done = await client.change(statement);
  await client.select({ sql: 'SELECT 1', parameters: [] }, 'reader');
  return done;
});

/** Kills the readers of the group, and starts them again afterwards. */
async function withoutReaders(
  stage: Stage,
  tables: BufferTables,
  shards: ReadonlySet<number>,
  meanwhile: () => Promise<void>,
): Promise<ReadersDown> {
  const { servers } = stage;
  const readers = servers.status().filter(({ group, role }) => group === GROUP && role === 'reader');
  for (const { node } of readers) await servers.kill(node);
  const from = Date.now();
  await meanwhile();
  const to = Date.now();
  const snapshot = await takeSnapshot(tables, shards);
  for (const { node } of readers) await servers.restart(node);
  await stage.untilAllRun();
  const backAt = Date.now();
  const isEmpty = await comesToDrained(stage, tables, { before: backAt, patienceMs: EMPTY_PATIENCE_MS });
  const emptySeconds = isEmpty ? (Date.now() - backAt) / 1000 : Number.POSITIVE_INFINITY;
  stage.world.say(
    `the readers of ${GROUP} were down for ${((to - from) / 1000).toFixed(0)} s, ${grouped(snapshot.rowKeys.size)} rows waited for them, the last until ${emptySeconds.toFixed(1)} s after`,
  );
  return { from, to, snapshot, emptySeconds };
}

import { replicate } from '../../support/nodes.ts';
import { check, grouped, type FaultRun } from '../fault-run.ts';
import { BATCHES_AND_REPEATS } from '../load/cell-source.ts';
import { outcomesLine, type Written } from '../load/ledger.ts';
import { Stage } from '../stage.ts';
import { quantile, readerLags, type ReaderLags } from './reader-lag.ts';

const GROUPS = 3;
const SHARDS = 48;
const WRITERS = 16;
const SECONDS = 15;
const CONTROL_SECONDS = 8;
/** Of the control, before readers stop and while they stand still. */
const BEFORE_MS = 2000;
const STILL_MS = 3000;
const MOST_P99_MS = 1000;
const LEAST_CELLS = 500;

export const replicationRun: FaultRun = {
  name: 'replication',
  promise: 'A reader shows what was acknowledged within a second',
  fault: `${WRITERS} writers over ${GROUPS} groups of a writer and a reader, for ${SECONDS} s`,
  control: `readers that apply nothing for ${STILL_MS / 1000} s`,
  alone: true,

  async run(world) {
    await using stage = await Stage.start(world, 'replication', { groups: GROUPS, shards: SHARDS });
    const { lags, written } = await measure(stage, 'real', world.seconds ?? SECONDS, async () => undefined);
    world.say(`the control: ${replicationRun.control}`);
    const control = await measure(stage, 'control', CONTROL_SECONDS, () => standStill(stage));
    const bar = {
      what: 'lag of readers: p99, cells never shown',
      bar: `< ${MOST_P99_MS} ms, 0 of at least ${LEAST_CELLS}`,
      figure: figureOf,
      holds: (real: ReaderLags) =>
        quantile(real.lags, 0.99) < MOST_P99_MS && real.never === 0 && real.lags.length >= LEAST_CELLS,
      fails: (still: ReaderLags) => quantile(still.lags, 0.99) >= MOST_P99_MS,
    };
    return {
      checks: [check(bar, lags, control.lags)],
      cells: written.acked.length + lags.lags.length,
      engine: stage.engine,
      notes: [
        `lag: ${quantilesLine(lags)}`,
        `the control's lag: ${quantilesLine(control.lags)}`,
        outcomesLine(written.outcomes),
        ...written.wrongExamples,
      ],
    };
  },
};

interface Measured {
  readonly lags: ReaderLags;
  readonly written: Written;
}

/** Measures under load, while `disturb` goes on. */
async function measure(stage: Stage, part: string, seconds: number, disturb: () => Promise<void>): Promise<Measured> {
  const { signal, say } = stage.world;
  const seed = `${stage.world.seed}/${part}`;
  const { datastore } = await stage.open({ sql: {} });
  const load = await stage.load({ writers: WRITERS, cells: BATCHES_AND_REPEATS, seed, run: `replication/${part}` });
  const [lags] = await Promise.all([readerLags({ datastore, seconds, seed, signal }), disturb()]);
  const { written } = await load.stop();
  say(
    `${grouped(lags.lags.length)} cells watched beside ${grouped(written.acked.length)} others: ${quantilesLine(lags)}`,
  );
  return { lags, written };
}

/** Every reader goes on receiving, and applies nothing for some seconds. */
async function standStill(stage: Stage): Promise<void> {
  const { servers } = stage;
  const readers = servers.status().filter(({ role }) => role === 'reader');
  await stage.wait(BEFORE_MS);
  await replicate(servers, 'STOP', 'SQL_THREAD', readers);
  await stage.wait(STILL_MS);
  await replicate(servers, 'START', 'SQL_THREAD', readers);
}

function figureOf({ lags, never }: ReaderLags): string {
  return `${quantile(lags, 0.99).toFixed(0)} ms, ${never} of ${grouped(lags.length)}`;
}

function quantilesLine({ lags }: ReaderLags): string {
  return [0.5, 0.9, 0.99, 1]
    .map((share) => `${share === 1 ? 'most' : `p${share * 100}`} ${quantile(lags, share).toFixed(1)} ms`)
    .join(', ');
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { CellAddress } from '../../../shared/cell.ts';
import type { BatchItem, Datastore } from '../../../shared/contract/datastore.ts';
import { replicate } from '../../support/nodes.ts';
import { percentile } from '../../support/percentile.ts';
import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import { check, grouped } from '../fault-run.ts';
import { BATCHES_AND_REPEATS } from '../load/cell-source.ts';
import { outcomesLine } from '../load/ledger.ts';
import { addressAlone } from '../row-keys.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';

const GROUPS = 3;
const WRITERS = 16;
const SECONDS = 15;
const CONTROL_SECONDS = 8;
/** The phases of the control: before readers pause, and their pause. */
const BEFORE_MS = 2000;
const STILL_MS = 3000;
const MOST_P99_MS = 1000;
const LEAST_CELLS = 500;

export const replicationRun = stagedRun({
  name: 'replication',
  promise: 'A reader shows what was acknowledged within a second',
  fault: `${WRITERS} writers over ${GROUPS} groups of a writer and a reader, for ${SECONDS} s`,
  control: `readers that apply nothing for ${STILL_MS / 1000} s`,
  alone: true,
  servers: { groups: GROUPS, shards: 48 },
  real: (stage) => measure(stage, 'real', stage.world.seconds ?? SECONDS, async () => undefined),
  without: (stage) => measure(stage, 'control', CONTROL_SECONDS, () => standStill(stage)),
  judge: ({ lags, written }, control) => ({
    checks: [
      check(
        {
          what: 'lag of readers: p99, cells never shown',
          bar: `< ${MOST_P99_MS} ms, 0 of at least ${LEAST_CELLS}`,
          result: (of) => `${percentile(of.lags, 0.99).toFixed(0)} ms, ${of.never} of ${grouped(of.lags.length)}`,
          holds: (real) =>
            percentile(real.lags, 0.99) < MOST_P99_MS && real.never === 0 && real.lags.length >= LEAST_CELLS,
          fails: (still) => percentile(still.lags, 0.99) >= MOST_P99_MS,
        },
        lags,
        control.lags,
      ),
    ],
    cells: written.acked.length + lags.lags.length,
    notes: [
      `lag: ${percentilesLine(lags)}`,
      `the control's lag: ${percentilesLine(control.lags)}`,
      outcomesLine(written.outcomes),
      ...written.wrongExamples,
    ],
  }),
});

async function measure(stage: Stage, part: string, seconds: number, disturb: () => Promise<void>) {
  const { signal, say } = stage.world;
  const seed = `${stage.world.seed}/${part}`;
  const { datastore } = await stage.open({ sql: {} });
  const load = await stage.load({ writers: WRITERS, cells: BATCHES_AND_REPEATS, seed });
  const [lags] = await Promise.all([readerLags({ datastore, seconds, seed, signal }), disturb()]);
  const { written } = await load.stop();
  say(
    `${grouped(lags.lags.length)} cells watched beside ${grouped(written.acked.length)} others: ${percentilesLine(lags)}`,
  );
  return { lags, written };
}

/** Pauses every reader: it receives, but applies nothing for some seconds. */
async function standStill(stage: Stage): Promise<void> {
  const { servers } = stage;
  const readers = servers.status().filter(({ role }) => role === 'reader');
  await stage.wait(BEFORE_MS);
  await replicate(servers, 'STOP', 'SQL_THREAD', readers);
  await stage.wait(STILL_MS);
  await replicate(servers, 'START', 'SQL_THREAD', readers);
}

function percentilesLine({ lags }: ReaderLags): string {
  const lines = [0.5, 0.9, 0.99].map((share) => `p${share * 100} ${percentile(lags, share).toFixed(1)} ms`);
  return `${lines.join(', ')}, most ${percentile(lags, 1).toFixed(1)} ms`;
}

interface LagOptions {
  readonly datastore: Pick<Datastore, 'put' | 'batchGet' | 'heads'>;
  readonly seconds: number;
  readonly seed: string;
  readonly signal: AbortSignal;
}

interface Waiting extends CellAddress {
  readonly answeredAt: number;
}

const COLUMN = 'BASE';
/** The interval of puts, whatever became of those before: as many see a paused reader. */
const PUT_EVERY_MS = 8;
const POLL_EVERY_MS = 2;
/** Read of a group at once, the oldest. */
const KEYS = 100;
const PATIENCE_MS = 20_000;

type ReaderLags = Awaited<ReturnType<typeof readerLags>>;

/**
 * Writes cells at a steady pace and polls for each on its group's reader. Cells of each group wait separately, so that
 * a paused reader hides no other one's lag.
 */
async function readerLags({ datastore, seconds, seed, signal }: LagOptions) {
  const groupOf = (await datastore.heads()).map(({ group }) => group);
  const waiting = new Map([...new Set(groupOf)].map((group): [string, Waiting[]] => [group, []]));
  const lags: number[] = [];
  const state = { writing: true, never: 0 };

  async function put(random: Random): Promise<void> {
    const address = { row_key: randomRowKey(random), column_name: COLUMN, ref_key: 0 };
    const result = await datastore.put({ ...address, body: { watched: true } });
    if (result.outcome === 'stored')
      waiting.get(groupOf[result.shard] ?? '')?.push({ ...address, answeredAt: performance.now() });
  }

  async function poll(cells: Waiting[]): Promise<void> {
    while (state.writing || cells.length > 0) {
      signal.throwIfAborted();
      const oldest = cells.slice(0, KEYS);
      const wanted = oldest.map(addressAlone);
      const items = wanted.length === 0 ? [] : await datastore.batchGet(wanted, { read: 'reader' });
      const now = performance.now();
      const left = oldest.filter(({ answeredAt }, position) => {
        const shown = isShownByReader(items[position]);
        if (!shown && now - answeredAt < PATIENCE_MS) return true;
        if (!shown) state.never += 1;
        lags.push(now - answeredAt);
        return false;
      });
      cells.splice(0, oldest.length, ...left);
      await sleep(POLL_EVERY_MS);
    }
  }

  const polling = Promise.all([...waiting.values()].map(poll));
  // The first failure is awaited below.
  polling.catch(() => undefined);
  const puts: Promise<void>[] = [];
  const end = performance.now() + seconds * 1000;
  for (let position = 0; performance.now() < end; position += 1) {
    puts.push(put(new Random(seed, 'watched cells', position)));
    await sleep(PUT_EVERY_MS, undefined, { signal });
  }
  await Promise.all(puts);
  state.writing = false;
  await polling;
  return { lags, never: state.never };
}

/** Returns whether the reader answered: an answer of the writer shows nothing about it. */
function isShownByReader(item: BatchItem | undefined): boolean {
  return item !== null && item !== undefined && 'served_by' in item && item.served_by === 'reader';
}

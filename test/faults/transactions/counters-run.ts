import { setTimeout as sleep } from 'node:timers/promises';
import type { RowTransaction, TransactionResult } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { UNSAFE_FLUSHING } from '../../support/cluster.ts';
import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import type { StoreAccess } from '../../support/store-access.ts';
import { untilBuffersEmpty } from '../aftermath.ts';
import { countsLine, grouped, noneOf, type Share } from '../fault-run.ts';
import { storedLogs } from '../stored-cells.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { anomaliesOf, type CounterRead, type CounterVersion, type Increment } from './check-history.ts';

const CALLERS = 32;
const ORDERERS = 8;
const ROWS = 10;
const SECONDS = 60;
const CONTROL_SECONDS = 12;
const GROUPS = 3;
const KILL_EVERY_MS = [3000, 7000] as const;
const REFUSED_PAUSE_MS = 20;
/** The most that an increment adds to the version: racing increments write different addresses. */
const MOST_STEP = 3;
const LEAST = { increments: 500, orders: 300, reads: 500 };

export const countersRun = stagedRun({
  name: 'counters',
  promise: 'A transaction is stored whole or not at all, and only if its conditions hold',
  fault: `${CALLERS} callers increment ${ROWS} counters by conditions for ${SECONDS} s, ${ORDERERS} store orders of three cells, readers check; writers of ${GROUPS} groups killed in turn`,
  control: 'conditions evaluated before the lock, cells appended one by one; no buffer, no readers and unsafe flushing',
  servers: { groups: GROUPS, shards: 24, restartAfterSeconds: 1 },
  controlServers: { bufferCopies: 0, readers: 0, extraArguments: UNSAFE_FLUSHING },
  real: (stage) => count(stage, stage.access, (stage.world.seconds ?? SECONDS) * 1000),
  without: (stage) => count(stage, stage.without('transactions'), CONTROL_SECONDS * 1000),
  judge: (real, control) => ({
    checks: [
      noneOf('increments that no order explains', LEAST.increments, real.anomalies, control.anomalies),
      noneOf('acknowledged orders lost, or in parts', LEAST.orders, real.orders, control.orders),
      noneOf('reads of a row that showed a part', LEAST.reads, real.reads, control.reads),
    ],
    cells: real.cells,
    notes: [countsLine(real.outcomes), ...real.examples, `the control: ${countsLine(control.outcomes)}`],
  }),
});

interface History {
  readonly increments: Increment[];
  readonly read: CounterRead[];
  readonly orders: { readonly row: string; readonly outcome: TransactionResult['outcome'] }[];
  reads: number;
  parts: number;
}

async function count(stage: Stage, access: StoreAccess, milliseconds: number) {
  const drain = await stage.drain();
  const stores = [await stage.open(access), await stage.open(access)];
  const random = new Random(stage.world.seed, stage.name, 0);
  const rows = Array.from({ length: ROWS }, () => randomRowKey(random)) as [string, ...string[]];
  const history: History = { increments: [], read: [], orders: [], reads: 0, parts: 0 };
  const over = new AbortController();
  const storeOf = (caller: number): Datastore => (stores[caller % stores.length] as (typeof stores)[0]).datastore;
  const callers = Array.from({ length: CALLERS }, (_, caller) =>
    increment({ store: storeOf(caller), rows, caller, history, over: over.signal, seed: stage.world.seed }),
  );
  const orderers = Array.from({ length: ORDERERS }, (_, caller) =>
    order({ store: storeOf(caller), caller, history, over: over.signal, seed: stage.world.seed }),
  );
  const readers = (['writer', 'reader'] as const).map((read) => watch(storeOf(0), rows, read, history, over.signal));
  const work = Promise.all([...callers, ...orderers, ...readers]);
  const start = performance.now();
  for (let kill = 0; performance.now() - start < milliseconds; kill += 1) {
    await stage.wait(random.between(...KILL_EVERY_MS));
    stage.say(
      `kill -9 of ${await stage.kill(stage.groupInTurn(kill))} at ${grouped(history.increments.length)} increments`,
    );
    await stage.untilAllRun();
  }
  over.abort();
  await work;
  await untilBuffersEmpty((await stage.open()).datastore, 120_000, stage.world.signal);
  // Throws the error that the drain died of, if any.
  void drain.progress;
  return judge(stage, rows, history);
}

interface Caller {
  readonly store: Datastore;
  readonly caller: number;
  readonly history: History;
  readonly over: AbortSignal;
  readonly seed: string;
}

/** Writes both cells of a counter at a later version, unless another caller was first. */
async function increment({
  store,
  rows,
  caller,
  history,
  over,
  seed,
}: Caller & { readonly rows: [string, ...string[]] }) {
  const random = new Random(seed, 'counters', caller);
  for (let number = 0; !over.aborted; number += 1) {
    const row = random.pick(rows);
    const begunRead = performance.now();
    const found = await store.getLatest({ row_key: row, column_name: 'COUNT' }).catch(unlessUnavailable);
    if (!found) {
      await sleep(REFUSED_PAUSE_MS);
      continue;
    }
    const from = found.cell?.ref_key ?? -1;
    if (!found.stale) history.read.push({ row, begun: begunRead, ended: performance.now(), version: from });
    const to = from + random.integer(1, MOST_STEP);
    const id = `${caller}-${number}`;
    const transaction: RowTransaction = {
      row_key: row,
      cells: ['COUNT', 'TWIN'].map((column_name) => ({ column_name, ref_key: to, body: { id, from } })),
      if: [{ column_name: 'COUNT', latest: from === -1 ? null : from }],
    };
    const begun = performance.now();
    const { outcome } = await store.transact(transaction);
    history.increments.push({ row, id, begun, ended: performance.now(), from, to, outcome: toldOf(outcome) });
    if (outcome === 'unavailable') await sleep(REFUSED_PAUSE_MS);
  }
}

function toldOf(outcome: TransactionResult['outcome']): Increment['outcome'] {
  if (outcome === 'stored' || outcome === 'stored_before') return 'stored';
  return outcome === 'unavailable' || outcome === 'buffered' ? 'unclear' : 'refused';
}

function unlessUnavailable(error: unknown): undefined {
  if (!(error instanceof SchemalessError) || error.retry !== 'later') throw error;
}

const ORDER = ['ORDER', 'OUTBOX', 'AUDIT'] as const;

/** Stores orders of new rows; none has a condition, so they are buffered while a primary is down. */
async function order({ store, caller, history, over, seed }: Caller) {
  const random = new Random(seed, 'orders', caller);
  while (!over.aborted) {
    const row = randomRowKey(random);
    const cells = ORDER.map((column_name) => ({ column_name, ref_key: 1, body: { row } }));
    const { outcome } = await store.transact({ row_key: row, cells });
    history.orders.push({ row, outcome });
    if (outcome === 'unavailable') await sleep(REFUSED_PAUSE_MS);
  }
}

/** Reads counters all the time: both cells of a row have one version. */
async function watch(
  store: Datastore,
  rows: readonly string[],
  read: 'writer' | 'reader',
  history: History,
  over: AbortSignal,
) {
  for (let at = 0; !over.aborted; at += 1) {
    const row = rows[at % rows.length] as string;
    const found = await store.row(row, { read }).catch(unlessUnavailable);
    if (!found) {
      await sleep(REFUSED_PAUSE_MS);
      continue;
    }
    history.reads += 1;
    const [one, other] = found.cells;
    if (found.cells.length > 0 && one?.ref_key !== other?.ref_key) history.parts += 1;
  }
}

async function judge(stage: Stage, rows: readonly string[], { increments, read, orders, reads, parts }: History) {
  const { datastore } = await stage.open();
  const versions: CounterVersion[] = [];
  for (const row of rows) {
    for (let after: number | undefined; ;) {
      const page = await datastore.versions(
        { row_key: row, column_name: 'COUNT' },
        { order: 'asc', after, limit: 1000 },
      );
      for (const { ref_key, body } of page.cells) {
        const { id = '', from = -1 } = Object(body) as { readonly id?: string; readonly from?: number };
        versions.push({ row, id, from, version: ref_key });
      }
      if (page.next === null) break;
      after = page.next;
    }
  }
  const anomalies = anomaliesOf(increments, read, versions);
  const acked = orders.filter(({ outcome }) => outcome !== 'unavailable');
  let lost = 0;
  for (const { row } of acked) if ((await datastore.row(row)).cells.length !== ORDER.length) lost += 1;
  const inParts = (await storedLogs(stage.access.groups)).reduce((sum, log) => sum + log.parts, 0);
  const stored = increments.filter(({ outcome }) => outcome === 'stored').length;
  const share = (wrong: number, of: number): Share => ({ wrong, of });
  return {
    anomalies: share(anomalies.length, stored),
    orders: share(lost + inParts, acked.length),
    reads: share(parts, reads),
    cells: 2 * stored + ORDER.length * acked.length,
    outcomes: {
      'increments stored': stored,
      refused: increments.filter(({ outcome }) => outcome === 'refused').length,
      unclear: increments.filter(({ outcome }) => outcome === 'unclear').length,
      'of them stored': versions.length - stored,
      'orders stored': orders.filter(({ outcome }) => outcome === 'stored').length,
      buffered: orders.filter(({ outcome }) => outcome === 'buffered').length,
      'reads checked': reads,
    },
    examples: anomalies.slice(0, 5),
  };
}

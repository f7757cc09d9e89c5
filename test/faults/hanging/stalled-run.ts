import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import type { NewCell } from '../../../shared/cell.ts';
import type { OpenStore } from '../../support/store-access.ts';
import { check, grouped } from '../fault-run.ts';
import type { Answer } from '../load/ask.ts';
import { begunIn, latencyLine, percentile, seconds, type Phase, type Timed } from '../load/latency.ts';
import { bearableLoad } from '../load/paced.ts';
import { writeCells } from '../outages/reader-reads.ts';
import { shardsOf } from '../row-keys.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';

const GROUP = 'group-2';
const PHASE_SECONDS = 20;
const PAUSE_MS = 3000;
const READ_EVERY_MS = 20;
const LEAST_STORED = 0.9;
const MOST_SLOWER = 3;
/** First hints are late by 250 ms; what waits for the stalled group is settled at once when its circuit opens. */
const MOST_MS = 500;
const LEAST = 100;

/** What stops writes of a server that answers reads. */
const STALLS = {
  'a read lock on all tables': 'FLUSH TABLES WITH READ LOCK',
  'a lock on the buffer table': 'LOCK TABLES `schemaless`.buffer WRITE',
  'a lock on the shards of the control database': 'LOCK TABLES `schemaless`.shard WRITE',
};

export const stalledRun = stagedRun({
  name: 'stalled',
  promise: 'A group whose writes stall while it answers reads costs no other group its writes or reads',
  fault: `${Object.keys(STALLS).join(', ')}: ${PHASE_SECONDS} s each on one group, under load`,
  control: 'no third group, on which a late hint could be begun in parallel',
  alone: true,
  servers: { shards: 12 },
  controlServers: { groups: 2 },
  real: stallUnderLoad,
  without: stallUnderLoad,
  judge: (real, control) => ({
    checks: [
      check(
        {
          what: 'writes of healthy groups in the worst stall: share stored in it; seconds (p99), and before',
          bar: `>= ${LEAST_STORED} of at least ${LEAST}; <= ${seconds(MOST_MS)}, or ${MOST_SLOWER} times`,
          figure: ({ before, stalls }) =>
            `${worst(stalls).stored.toFixed(2)}; ${seconds(worst(stalls).p99)}, ${seconds(before.p99)}`,
          holds: ({ before, stalls }) =>
            before.writes.length >= LEAST &&
            worst(stalls).stored >= LEAST_STORED &&
            worst(stalls).p99 <= Math.max(MOST_MS, MOST_SLOWER * before.p99),
        },
        real,
        control,
      ),
    ],
    cells: real.cells,
    notes: [
      `reads of healthy groups that were refused, or not of the writer: ${real.badReads} of ${grouped(real.reads)}`,
      ...[real, control].flatMap(({ before, stalls }) =>
        [before, ...stalls].map(
          ({ name, writes, own, stored }) =>
            `${name}: ${stored.toFixed(2)} stored, ${latencyLine(writes)}; of its own ${latencyLine(own)}`,
        ),
      ),
    ],
  }),
});

interface Figures {
  readonly name: string;
  /** To healthy groups. */
  readonly writes: readonly Timed[];
  readonly own: readonly Timed[];
  /** In the time, for each write begun in it. */
  readonly stored: number;
  readonly p99: number;
}

function worst(stalls: readonly Figures[]): Pick<Figures, 'stored' | 'p99'> {
  return {
    stored: Math.min(...stalls.map(({ stored }) => stored)),
    p99: Math.max(...stalls.map(({ p99 }) => p99)),
  };
}

async function stallUnderLoad(stage: Stage) {
  const group = stage.access.groups.find(({ name }) => name === GROUP);
  if (!group) throw new Error(`wanted ${GROUP}`);
  const store = await stage.open({ sql: {} });
  const own = await shardsOf(store.datastore, GROUP);
  const healthy = new Set((await store.datastore.heads()).map(({ shard }) => shard).filter((shard) => !own.has(shard)));
  const cells = await writeCells(store, healthy, stage.world.seed);
  const load = await bearableLoad(stage);
  const phases: [name: string, phase: Phase][] = [];
  const during = async (name: string, milliseconds: number): Promise<void> => {
    const from = Date.now();
    await stage.wait(milliseconds);
    phases.push([name, { from, to: Date.now() }]);
  };
  const reading = new AbortController();
  const reads = readOn(store, cells, reading.signal);
  await during('before', PHASE_SECONDS * 1000);
  for (const [name, sql] of Object.entries(STALLS)) {
    const holder = await createConnection({ ...group.writer, user: group.user, password: group.password });
    try {
      await holder.query(sql);
      stage.say(`${GROUP}: ${name}`);
      await during(name, PHASE_SECONDS * 1000);
    } finally {
      await holder.end();
    }
    await stage.wait(PAUSE_MS);
  }
  reading.abort();
  const { answers } = await load.stop();
  const [before, ...stalls] = phases.map(([name, phase]) => figuresOf(name, answers, phase, { healthy, own }));
  const read = await reads;
  return {
    before: before as Figures,
    stalls,
    cells: answers.length,
    reads: read.length,
    badReads: read.filter((isGood) => !isGood).length,
  };
}

function figuresOf(
  name: string,
  answers: readonly Answer[],
  phase: Phase,
  { healthy, own }: Readonly<Record<'healthy' | 'own', ReadonlySet<number>>>,
): Figures {
  const writes = begunIn(answers, phase, healthy);
  const stored = answers.filter(
    ({ outcome, ended, shard }) =>
      outcome === 'stored' && ended >= phase.from && ended < phase.to && healthy.has(shard),
  );
  return {
    name,
    writes,
    own: begunIn(answers, phase, own),
    stored: stored.length / writes.length,
    p99: percentile(writes, 0.99),
  };
}

/** Whether each read of the writer was answered by it. */
async function readOn(
  { datastore }: OpenStore,
  cells: readonly NewCell[],
  signal: AbortSignal,
): Promise<readonly boolean[]> {
  const reads: Promise<boolean>[] = [];
  for (let position = 0; !signal.aborted; position += 1) {
    const cell = cells[position % cells.length] as NewCell;
    reads.push(
      datastore.get(cell).then(
        (found) => found.cell !== null && found.served_by === 'writer',
        () => false,
      ),
    );
    await sleep(READ_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  return Promise.all(reads);
}

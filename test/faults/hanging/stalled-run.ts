import { createConnection } from 'mysql2/promise';
import { check, grouped } from '../fault-run.ts';
import type { Answer } from '../load/ask.ts';
import { begunIn, latencyLine, p99, seconds, type Phase, type Timed } from '../load/latency.ts';
import { bearableLoad } from '../load/paced.ts';
import { startReads, writeCells } from '../outages/reader-reads.ts';
import { shardsOf } from '../row-keys.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';

const GROUP = 'group-2';
const PHASE_SECONDS = 20;
const PAUSE_MS = 3000;
const LEAST_STORED = 0.9;
const MOST_SLOWER = 3;
/** First hints are late by 250 ms; writes that wait for the stalled group are settled when its circuit opens. */
const MOST_MS = 500;
const LEAST = 100;

/** The ways to stop the writes of a server that answers reads. */
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
          result: ({ before, stalls }) =>
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

interface Results {
  readonly name: string;
  /** Writes to healthy groups. */
  readonly writes: readonly Timed[];
  readonly own: readonly Timed[];
  /** Writes stored in the phase, for each write begun in it. */
  readonly stored: number;
  readonly p99: number;
}

function worst(stalls: readonly Results[]): Pick<Results, 'stored' | 'p99'> {
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
  const { reads } = stage.use(await startReads(stage.access, cells, { read: 'writer' }));
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
  const { answers } = await load.stop();
  const [before, ...stalls] = phases.map(([name, phase]) => resultsOf(name, answers, phase, { healthy, own }));
  return {
    before: before as Results,
    stalls,
    cells: answers.length,
    reads: reads.length,
    badReads: reads.filter(({ servedBy, isRight }) => servedBy !== 'writer' || !isRight).length,
  };
}

function resultsOf(
  name: string,
  answers: readonly Answer[],
  phase: Phase,
  { healthy, own }: Readonly<Record<'healthy' | 'own', ReadonlySet<number>>>,
): Results {
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
    p99: p99(writes),
  };
}

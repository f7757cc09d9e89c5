import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import type { ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import { startCluster, type Cluster } from '../../support/cluster.ts';
import type { FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import type { Mix } from '../load/cell-source.ts';
import { outcomesLine, type Written } from '../load/ledger.ts';
import { startLoad } from '../load/start-load.ts';
import { openStore } from '../../support/store-access.ts';
import { quantile, readerLags, type ReaderLags } from './reader-lag.ts';

const GROUPS = 3;
const SHARDS = 48;
const WRITERS = 16;
const MIX: Mix = { batchShare: 0.3, batchSize: 10, repeatShare: 0.05 };
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

  async run(world: RunWorld): Promise<RunOutcome> {
    await using cluster = await startCluster({ folder: world.folder, engine: world.engine, groups: GROUPS, readers: 1, shards: SHARDS, bufferCopies: 1 });
    const { lags, written } = await measure(world, cluster, 'real', world.seconds ?? SECONDS, async () => undefined);
    world.say(`the control: ${replicationRun.control}`);
    const control = await measure(world, cluster, 'control', CONTROL_SECONDS, () => standStill(cluster.servers, world.signal));
    return {
      checks: [
        {
          what: 'lag of readers: p99, cells never shown',
          figure: figureOf(lags),
          bar: `< ${MOST_P99_MS} ms, 0 of at least ${LEAST_CELLS}`,
          passed: quantile(lags.lags, 0.99) < MOST_P99_MS && lags.never === 0 && lags.lags.length >= LEAST_CELLS,
          control: { figure: figureOf(control.lags), failed: quantile(control.lags.lags, 0.99) >= MOST_P99_MS },
        },
      ],
      cells: written.acked.length + lags.lags.length,
      engine: cluster.engine,
      notes: [`lag: ${quantilesLine(lags)}`, `the control's lag: ${quantilesLine(control.lags)}`, outcomesLine(written.outcomes), ...written.wrongExamples],
    };
  },
};

interface Measured {
  readonly lags: ReaderLags;
  readonly written: Written;
}

/** Measures under load, while `disturb` goes on. */
async function measure({ seed, history, signal, say }: RunWorld, { access }: Cluster, part: string, seconds: number, disturb: () => Promise<void>): Promise<Measured> {
  await using store = await openStore(access);
  using load = startLoad({ target: { kind: 'store', access }, writers: WRITERS, seed: `${seed}/${part}`, mix: MIX, run: `replication/${part}`, history });
  await load.ready;
  const [lags] = await Promise.all([readerLags({ datastore: store.datastore, seconds, seed: `${seed}/${part}`, signal }), disturb()]);
  const written = await load.stop();
  say(`${lags.lags.length.toLocaleString('en-US')} cells watched beside ${written.acked.length.toLocaleString('en-US')} others: ${quantilesLine(lags)}`);
  return { lags, written };
}

/** Every reader goes on receiving, and applies nothing for some seconds. */
async function standStill({ groups, engine }: ShardGroups, signal: AbortSignal): Promise<void> {
  const thread = engine.kind === 'mysql' ? 'REPLICA SQL_THREAD' : 'SLAVE SQL_THREAD';
  const onReaders = async (statement: string): Promise<void> => {
    await Promise.all(
      groups.flatMap(({ user, password, nodes }) =>
        nodes.filter(({ role }) => role === 'reader').map(async ({ host, port }) => {
          const connection = await createConnection({ host, port, user, password });
          await connection.query(statement);
          await connection.end();
        }),
      ),
    );
  };
  await sleep(BEFORE_MS, undefined, { signal });
  await onReaders(`STOP ${thread}`);
  await sleep(STILL_MS, undefined, { signal });
  await onReaders(`START ${thread}`);
}

function figureOf({ lags, never }: ReaderLags): string {
  return `${quantile(lags, 0.99).toFixed(0)} ms, ${never} of ${lags.length.toLocaleString('en-US')}`;
}

function quantilesLine({ lags }: ReaderLags): string {
  return [0.5, 0.9, 0.99, 1].map((share) => `${share === 1 ? 'most' : `p${share * 100}`} ${quantile(lags, share).toFixed(1)} ms`).join(', ');
}

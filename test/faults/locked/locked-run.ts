import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { shardDatabase } from '../../../shared/shard.ts';
import { startCluster } from '../../support/cluster.ts';
import type { FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { startSteadyLoad } from '../paused/start-steady-load.ts';
import type { Trip } from '../paused/steady-load.ts';
import { seconds, waitsIn, waitsLine, type Waits } from '../paused/waits.ts';
import { DATASTORE, openStore, type StoreAccess } from '../../support/store-access.ts';

const LOCKED_SECONDS = 20;
const GROUPS = 3;
const SHARDS = 12;
const WRITERS = 32;
const PER_SECOND = 8;
const MOST_MS = 1000;
const LEAST_WRITES = 1000;
const WARM_UP_MS = 3000;
/** For both tries of an append. */
const AFTER_MS = 9000;

/** What was answered to writes that began while a shard's table was locked. */
interface Locked {
  /** Writes to other shards of its group: what they waited, and those that were not stored. */
  readonly others: Waits;
  readonly buffered: number;
  /** Writes to the locked shard that were buffered: that the lock was one. */
  readonly ownBuffered: number;
  readonly trips: readonly Trip[];
}

export const lockedRun: FaultRun = {
  name: 'locked',
  promise: 'A table that somebody locks costs its own shard alone',
  fault: `LOCK TABLES of one shard for ${LOCKED_SECONDS} s, under ${WRITERS} writers to all`,
  control: 'a circuit that opens on any time limit',
  alone: true,

  async run(world: RunWorld): Promise<RunOutcome> {
    await using cluster = await startCluster({ folder: join(world.folder, 'cluster'), engine: world.engine, groups: GROUPS, readers: 1, shards: SHARDS, bufferCopies: 1 });
    const real = await lockUnderLoad(world, cluster.access, 'locked', false);
    world.say(`the control: ${lockedRun.control}`);
    const blaming = await lockUnderLoad(world, cluster.access, 'locked/control', true);
    const figure = ({ others, buffered, trips }: Locked): string => `${buffered}, ${others.refused} of ${others.count.toLocaleString('en-US')}; ${seconds(others.p99)}; ${trips.length}`;
    const holds = ({ others, buffered, trips }: Locked): boolean => buffered + others.refused + trips.length === 0 && others.p99 < MOST_MS;
    return {
      checks: [
        {
          what: 'writes to other shards of the group: buffered, refused; seconds (p99) that they waited; circuits opened',
          figure: figure(real),
          bar: `0, 0 of at least ${LEAST_WRITES.toLocaleString('en-US')}; < ${MOST_MS / 1000}; 0`,
          passed: holds(real) && real.others.count >= LEAST_WRITES && real.ownBuffered > 0,
          control: { figure: figure(blaming), failed: blaming.buffered > 0 },
        },
      ],
      cells: real.others.count,
      engine: cluster.engine,
      notes: [`other shards of the group: ${waitsLine(real.others)}`, `writes to the locked shard that were buffered: ${real.ownBuffered}`, `the control's: ${waitsLine(blaming.others)}`],
    };
  },
};

async function lockUnderLoad({ seed, history, signal, say }: RunWorld, access: StoreAccess, run: string, blames: boolean): Promise<Locked> {
  await using store = await openStore(access);
  const heads = await store.datastore.heads();
  const [locked] = heads;
  const group = access.groups.find(({ name }) => name === locked?.group);
  if (!locked || !group) throw new Error('wanted a shard and its group');
  const others = new Set(heads.filter((head) => head.group === group.name && head.shard !== locked.shard).map(({ shard }) => shard));

  using load = startSteadyLoad({ access, writers: WRITERS, perSecond: PER_SECOND, seed: `${seed} ${run}`, run, history, blames });
  await load.ready;
  await sleep(WARM_UP_MS, undefined, { signal });
  const holder = await createConnection({ ...group.writer, user: group.user, password: group.password });
  const from = Date.now();
  try {
    await holder.query(`LOCK TABLES \`${shardDatabase(DATASTORE, locked.shard)}\`.entity WRITE`);
    say(`shard ${locked.shard} of ${group.name} is locked`);
    await sleep(LOCKED_SECONDS * 1000, undefined, { signal });
  } finally {
    await holder.end();
  }
  const to = Date.now();
  await sleep(AFTER_MS, undefined, { signal });
  const { answers, trips } = await load.stop();
  const bufferedOf = (isWanted: (shard: number) => boolean): number =>
    answers.filter(({ shard, outcome, begun }) => outcome === 'buffered' && isWanted(shard) && begun >= from && begun < to).length;
  return {
    others: waitsIn(answers, { from, to }, others, SHARDS).own,
    buffered: bufferedOf((shard) => others.has(shard)),
    ownBuffered: bufferedOf((shard) => shard === locked.shard),
    trips,
  };
}

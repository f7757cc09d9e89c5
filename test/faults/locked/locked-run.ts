import { createConnection } from 'mysql2/promise';
import { shardDatabase } from '../../../shared/address.ts';
import { check, grouped, type FaultRun } from '../fault-run.ts';
import { DATASTORE } from '../../support/store-access.ts';
import { begunIn, seconds, waitedIn, waitsLine, type Waits } from '../load/latency.ts';
import type { Opening } from '../load/load-thread.ts';
import { STEADY, WARM_UP_MS } from '../load/paced.ts';
import { Stage, type StageLoad } from '../stage.ts';

const LOCKED_SECONDS = 20;
const SHARDS = 12;
const WRITERS = 32;
const PER_SECOND = 8;
const MOST_MS = 1000;
const LEAST_WRITES = 1000;
/** For both tries of an append. */
const AFTER_MS = 9000;

/** What was answered to writes that began while a shard's table was locked. */
interface Locked {
  /** Writes to other shards of its group: what they waited, and those that were not stored. */
  readonly others: Waits;
  readonly buffered: number;
  /** Writes to the locked shard that were buffered: that the lock was one. */
  readonly ownBuffered: number;
  readonly openings: readonly Opening[];
}

export const lockedRun: FaultRun = {
  name: 'locked',
  promise: 'A table that somebody locks costs its own shard alone',
  fault: `LOCK TABLES of one shard for ${LOCKED_SECONDS} s, under ${WRITERS} writers to all`,
  control: 'a circuit that opens on any time limit',
  alone: true,

  async run(world) {
    await using stage = await Stage.start(world, 'locked', { shards: SHARDS });
    const real = await lockUnderLoad(stage, {});
    world.say(`the control: ${lockedRun.control}`);
    const control = await lockUnderLoad(stage, {
      access: stage.through(new URL('../blaming-client.ts', import.meta.url)),
      run: 'locked/control',
    });
    const bar = {
      what: 'writes to other shards of the group: buffered, refused; seconds (p99) that they waited; circuits opened',
      bar: `0, 0 of at least ${grouped(LEAST_WRITES)}; < ${MOST_MS / 1000}; 0`,
      figure: ({ others, buffered, openings }: Locked): string =>
        `${buffered}, ${others.refused} of ${grouped(others.count)}; ${seconds(others.p99)}; ${openings.length}`,
      holds: ({ others, buffered, ownBuffered, openings }: Locked): boolean =>
        buffered + others.refused + openings.length === 0 &&
        others.p99 < MOST_MS &&
        others.count >= LEAST_WRITES &&
        ownBuffered > 0,
      fails: ({ buffered }: Locked): boolean => buffered > 0,
    };
    return {
      checks: [check(bar, real, control)],
      cells: real.others.count,
      engine: stage.engine,
      notes: [
        `other shards of the group: ${waitsLine(real.others)}`,
        `writes to the locked shard that were buffered: ${real.ownBuffered}`,
        `the control's: ${waitsLine(control.others)}`,
      ],
    };
  },
};

async function lockUnderLoad(stage: Stage, varied: Partial<StageLoad>): Promise<Locked> {
  const { say, seed } = stage.world;
  const heads = await (await stage.open()).datastore.heads();
  const [locked] = heads;
  const group = stage.access.groups.find(({ name }) => name === locked?.group);
  if (!locked || !group) throw new Error('wanted a shard and its group');
  const others = new Set(
    heads.filter((head) => head.group === group.name && head.shard !== locked.shard).map(({ shard }) => shard),
  );
  const pace = { writers: WRITERS, perSecond: PER_SECOND };
  const load = await stage.load({ ...STEADY, ...pace, seed: `${seed} ${varied.run ?? ''}`, ...varied });
  await stage.wait(WARM_UP_MS);
  const holder = await createConnection({ ...group.writer, user: group.user, password: group.password });
  const from = Date.now();
  try {
    await holder.query(`LOCK TABLES \`${shardDatabase(DATASTORE, locked.shard)}\`.entity WRITE`);
    say(`shard ${locked.shard} of ${group.name} is locked`);
    await stage.wait(LOCKED_SECONDS * 1000);
  } finally {
    await holder.end();
  }
  const phase = { from, to: Date.now() };
  await stage.wait(AFTER_MS);
  const { answers, openings } = await load.stop();
  const bufferedOf = (shards: ReadonlySet<number>): number =>
    begunIn(answers, phase, shards).filter(({ outcome }) => outcome === 'buffered').length;
  return {
    others: waitedIn(answers, phase, others).own,
    buffered: bufferedOf(others),
    ownBuffered: bufferedOf(new Set([locked.shard])),
    openings,
  };
}

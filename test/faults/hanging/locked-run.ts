import { createConnection } from 'mysql2/promise';
import { shardDatabase } from '../../../shared/address.ts';
import { DATASTORE } from '../../support/store-access.ts';
import { check, grouped } from '../fault-run.ts';
import { begunIn, seconds, waitedIn, waitsLine } from '../load/latency.ts';
import { STEADY, WARM_UP_MS } from '../load/paced.ts';
import type { Stage, StageLoad } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';

const LOCKED_SECONDS = 20;
const WRITERS = 32;
const PER_SECOND = 8;
const MOST_MS = 1000;
const LEAST_WRITES = 1000;
/** For both tries of an append. */
const AFTER_MS = 9000;

export const lockedRun = stagedRun({
  name: 'locked',
  promise: 'A table that somebody locks costs its own shard alone',
  fault: `LOCK TABLES of one shard for ${LOCKED_SECONDS} s, under ${WRITERS} writers to all`,
  control: 'a circuit that opens on any time limit',
  alone: true,
  servers: { shards: 12 },
  real: (stage) => lockUnderLoad(stage, {}),
  without: (stage) => lockUnderLoad(stage, { access: stage.without('signsOfLife'), run: 'locked/control' }),
  judge: (real, control) => ({
    checks: [
      check(
        {
          what: 'writes to other shards of the group: buffered, refused; seconds (p99) that they waited; circuits opened',
          bar: `0, 0 of at least ${grouped(LEAST_WRITES)}; < ${MOST_MS / 1000}; 0`,
          figure: ({ others, buffered, openings }) =>
            `${buffered}, ${others.refused} of ${grouped(others.count)}; ${seconds(others.p99)}; ${openings}`,
          holds: ({ others, buffered, ownBuffered, openings }) =>
            buffered + others.refused + openings === 0 &&
            others.p99 < MOST_MS &&
            others.count >= LEAST_WRITES &&
            ownBuffered > 0,
          fails: ({ buffered }) => buffered > 0,
        },
        real,
        control,
      ),
    ],
    cells: real.others.count,
    notes: [
      `other shards of the group: ${waitsLine(real.others)}`,
      `writes to the locked shard that were buffered: ${real.ownBuffered}`,
      `the control's: ${waitsLine(control.others)}`,
    ],
  }),
});

async function lockUnderLoad(stage: Stage, varied: Partial<StageLoad>) {
  const heads = await (await stage.open()).datastore.heads();
  const [locked] = heads;
  const group = stage.access.groups.find(({ name }) => name === locked?.group);
  if (!locked || !group) throw new Error('wanted a shard and its group');
  const others = new Set(
    heads.filter((head) => head.group === group.name && head.shard !== locked.shard).map(({ shard }) => shard),
  );
  const pace = { writers: WRITERS, perSecond: PER_SECOND };
  const load = await stage.load({ ...STEADY, ...pace, seed: `${stage.world.seed} ${varied.run ?? ''}`, ...varied });
  await stage.wait(WARM_UP_MS);
  const holder = await createConnection({ ...group.writer, user: group.user, password: group.password });
  const from = Date.now();
  try {
    await holder.query(`LOCK TABLES \`${shardDatabase(DATASTORE, locked.shard)}\`.entity WRITE`);
    stage.say(`shard ${locked.shard} of ${group.name} is locked`);
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
    openings: openings.length,
  };
}

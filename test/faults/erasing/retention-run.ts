import { randomUUID } from 'node:crypto';
import { shardDatabase } from '../../../shared/address.ts';
import type { NewCell } from '../../../shared/cell.ts';
import type { RetentionRule } from '../../../shared/definitions/definitions.ts';
import { toNumber } from '../../../shared/sql/cell-rows.ts';
import { writeRetention } from '../../../shared/topology/dynamo-topology.ts';
import { onEachShard, rowsOf } from '../../support/past-the-store.ts';
import { Random } from '../../support/random.ts';
import { DATASTORE, openStore, PATIENT, type OpenStore } from '../../support/store-access.ts';
import { grouped, noneOf, sumOf } from '../fault-run.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { goOnErasing } from './going-on.ts';
import { KEPT, VERSIONED, watchReads, type Watched, type WrittenRow } from './watched-reads.ts';

const RULES: readonly RetentionRule[] = [{ column: VERSIONED, keepVersions: KEPT }];
/** The sizes by default, and of a short run. */
const FULL = { rows: 1000, versions: 100 };
const SHORT = { rows: 60, versions: 40 };
type Size = typeof FULL;
const SHORT_SECONDS = 30;
const WRITERS = 4;
const READERS = 2;
const BATCH = 50;
const PATIENCE_MS = 900_000;
const UNRULED = 'unruled';

export const retentionRun = stagedRun({
  name: 'retention',
  promise: 'No read shows more versions than are kept, and all others are erased',
  fault: `${grouped(FULL.rows)} rows of ${FULL.versions} versions written, of which ${KEPT} are kept, while they are read and the rest is erased (--seconds below ${SHORT_SECONDS}: ${SHORT.rows} rows)`,
  control: 'no rules',
  alone: true,
  servers: { groups: 2, readers: 1, shards: 8 },
  async real(stage) {
    const size = (stage.world.seconds ?? SHORT_SECONDS) < SHORT_SECONDS ? SHORT : FULL;
    await writeRetention((await stage.open()).topologyTable, DATASTORE, RULES);
    // The store reads the rules of a datastore when it is opened.
    const store = await stage.open();
    await stage.drain();
    const ending = new AbortController();
    const background = goOnErasing(store, ending.signal, {
      retention: { roundMs: 4000, wholeMs: 15_000, rest: 0.2 },
      failed: (error) => console.error(error),
    });
    try {
      const watched = await watchedWrites(stage, store, size);
      stage.say('waiting until what is not kept is erased');
      const expected = size.rows * KEPT;
      const isDone = async (): Promise<boolean> => (await bodiesIn(stage, DATASTORE)) === expected;
      await stage.comes(isDone, { patienceMs: PATIENCE_MS, pollMs: 1000 });
      return { size, watched, bodies: await bodiesIn(stage, DATASTORE) };
    } finally {
      ending.abort();
      await background;
    }
  },
  async without(stage) {
    const access = await stage.cluster.define(UNRULED, []);
    await using store = await openStore({ ...access, sql: PATIENT });
    return { watched: await watchedWrites(stage, store, SHORT), bodies: await bodiesIn(stage, UNRULED) };
  },
  judge({ size, watched, bodies }, unruled) {
    const beyond = (of: number, { rows, versions }: Size) => ({
      wrong: Math.abs(of - rows * KEPT),
      of: rows * versions,
    });
    return {
      checks: [
        noneOf(
          'reads that showed more than is kept, while rows were written',
          size === FULL ? 2000 : 100,
          { wrong: watched.beyond, of: watched.reads },
          { wrong: unruled.watched.beyond, of: unruled.watched.reads },
        ),
        noneOf(
          'bodies in tables, more or fewer than are kept, in the end',
          size.rows * KEPT,
          beyond(bodies, size),
          beyond(unruled.bodies, SHORT),
        ),
      ],
      cells: size.rows * size.versions,
      notes: [
        `${grouped(watched.reads)} reads; the most bodies in a list: ${watched.most} (without rules ${unruled.watched.most})`,
      ],
    };
  },
});

async function watchedWrites(
  { world }: Stage,
  { datastore }: OpenStore,
  { rows: count, versions }: Size,
): Promise<Watched> {
  const rows: readonly WrittenRow[] = Array.from({ length: count }, () => ({ row_key: randomUUID(), acked: 0 }));
  const ending = new AbortController();
  const reading = Array.from({ length: READERS }, (_, number) =>
    watchReads(datastore, rows, new Random(world.seed, 'retention', number), ending.signal),
  );
  const work: { readonly version: number; readonly from: number }[] = [];
  for (let version = 1; version <= versions; version += 1)
    for (let from = 0; from < rows.length; from += BATCH) work.push({ version, from });
  const write = async (): Promise<void> => {
    for (let next = work.shift(); next && !world.signal.aborted; next = work.shift()) {
      const { version, from } = next;
      const some = rows.slice(from, from + BATCH);
      await putAll(
        datastore,
        some.map(({ row_key }) => ({ row_key, column_name: VERSIONED, ref_key: version, body: { row_key, version } })),
      );
      for (const row of some) row.acked = Math.max(row.acked, version - WRITERS);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  ending.abort();
  const all = await Promise.all(reading);
  return all.reduce((sum, one) => ({
    reads: sum.reads + one.reads,
    beyond: sum.beyond + one.beyond,
    most: Math.max(sum.most, one.most),
  }));
}

async function putAll(datastore: OpenStore['datastore'], cells: readonly NewCell[]): Promise<void> {
  for (let left = cells; left.length > 0;) {
    const some = left.slice(0, 100);
    const results = await datastore.batchPut(some);
    if (results.some(({ outcome }) => outcome === 'conflict')) throw new Error('a cell was written twice');
    const again = some.filter((_, position) => results[position]?.outcome === 'unavailable');
    left = [...again, ...left.slice(100)];
  }
}

/** Counts bodies of the column in the tables of a datastore, past the store. */
async function bodiesIn(stage: Stage, datastore: string): Promise<number> {
  const counts = await onEachShard(
    stage.access.groups,
    async (client, shard) => {
      const sql = `SELECT COUNT(*) FROM \`${shardDatabase(datastore, shard)}\`.entity WHERE column_name = '${VERSIONED}' AND LEFT(body, 1) <> X'00'`;
      return toNumber((await rowsOf(client, sql))[0]?.[0]);
    },
    datastore,
  );
  return sumOf(counts);
}

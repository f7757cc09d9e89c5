import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { shardDatabase } from '../../../shared/address.ts';
import type { NewCell } from '../../../shared/cell.ts';
import type { Purge } from '../../../shared/contract/retention-operations.ts';
import type { IndexDefinition, RetentionRule } from '../../../shared/definitions/definitions.ts';
import { toNumber, toText } from '../../../shared/sql/cell-rows.ts';
import type { SqlRow } from '../../../shared/sql/client.ts';
import { writeRetention } from '../../../shared/topology/what-is-kept.ts';
import { filesIn } from '../../support/files/bytes-on-disk.ts';
import { onEachGroup, onEachShard, rowsOf } from '../../support/past-the-store.ts';
import { Random } from '../../support/random.ts';
import { DATASTORE, openStore, PATIENT, type OpenStore } from '../../support/store-access.ts';
import { check, grouped, noneOf, sumOf } from '../fault-run.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { erasing, goOnErasing, REASON } from './going-on.ts';
import { leftIn, markedBody, placesLine, requireReadable, searchFiles, type FoundMarks } from './marks.ts';
import { KEPT, LARGE, watchReads, type Watched, type WrittenRow } from './watched-reads.ts';

/** Small bodies, which are stored as they are, so that their marks are found on disk, and which are indexed. */
const MARKED = 'MARKED';
/** Its shard field is of all rows alike: what is left of an entry that is erased is that field. */
const INDEX: IndexDefinition = {
  name: 'by_kind',
  fields: [
    { field: 'kind', type: 'string', column_key: MARKED },
    { field: 'mark', type: 'string', column_key: MARKED },
  ],
  keys: [],
};
const RULES: readonly RetentionRule[] = [LARGE, MARKED].map((column) => ({ column, keepVersions: KEPT }));
/** By default, and where a short run is asked for: empty files are a part of a small store's space. */
const FULL = { rows: 1000, versions: 100, marked: 20, erased: 100, filler: 400 };
const SHORT = { rows: 60, versions: 40, marked: 20, erased: 10, filler: 4000 };
type Size = typeof FULL;
const SHORT_SECONDS = 30;
const WRITERS = 4;
const READERS = 2;
const BATCH = 50;
const MOST_OVER_FRESH = 1.15;
const PATIENCE_MS = 900_000;
const SETTLING_MS = 4000;
const UNRULED = 'unruled';
const FRESH = 'fresh';

export const retentionRun = stagedRun({
  name: 'retention',
  promise: 'No read shows more than is kept, what is not kept goes from disk, and its space comes back',
  fault: `${grouped(FULL.rows)} rows of ${FULL.versions} versions written, of which ${KEPT} are kept, while they are read and the rest is erased; a tenth of the rows erased, then a purge (--seconds below ${SHORT_SECONDS}: ${SHORT.rows} rows)`,
  control: 'no rules; no purge',
  alone: true,
  servers: { groups: 2, readers: 1, shards: 8, indexes: [INDEX] },
  async real(stage) {
    requireReadable();
    const size = (stage.world.seconds ?? SHORT_SECONDS) < SHORT_SECONDS ? SHORT : FULL;
    await writeRetention((await stage.open()).topologyTable, DATASTORE, RULES);
    // What is known of a datastore is read when it is opened.
    const store = await stage.open();
    await stage.drain();
    const ending = new AbortController();
    const background = goOnErasing(store, ending.signal, {
      retention: { roundMs: 4000, wholeMs: 15_000, rest: 0.2 },
      purge: { lookMs: 500, rest: 0.2 },
      failed: (error) => console.error(error),
    });
    try {
      return { size, ...(await retain(stage, store, size)) };
    } finally {
      ending.abort();
      await background;
    }
  },
  async without(stage) {
    const access = await stage.cluster.define(UNRULED, []);
    await using store = await openStore({ ...access, sql: PATIENT });
    return await watchedWrites(stage, store, { ...SHORT, marked: 0, erased: 0 }, rowsOfRun(SHORT.rows));
  },
  judge({ size, watched, before, after, purge, bytes }, unruled) {
    const ratio = (of: number): number => of / bytes.fresh;
    return {
      checks: [
        noneOf(
          'reads that showed more than is kept, while rows were written',
          size === FULL ? 2000 : 100,
          { wrong: watched.beyond, of: watched.reads },
          { wrong: unruled.beyond, of: unruled.reads },
        ),
        check<FoundMarks>(
          {
            what: 'marks of erased bodies in all files of all servers, but for binary logs: tables, indexes, undo, redo, doublewrite',
            bar: '0',
            figure: (found) => `${grouped(leftIn(found))} (of kept ones: ${grouped(found.kept.tables ?? 0)})`,
            holds: (found) => leftIn(found) === 0 && (found.kept.tables ?? 0) > 0,
          },
          after,
          before,
        ),
        check<number>(
          {
            what: 'space of the tables, as a part of that of a fresh store with the same content',
            bar: `at most ${MOST_OVER_FRESH}`,
            figure: (of) => ratio(of).toFixed(2),
            holds: (of) => ratio(of) <= MOST_OVER_FRESH,
          },
          bytes.after,
          bytes.before,
        ),
      ],
      cells: size.rows * (size.versions + size.marked),
      notes: [
        `${grouped(watched.reads)} reads; the most bodies in a list: ${watched.most} (without rules ${unruled.most})`,
        `files of tables: ${mib(bytes.before)} before the purge, ${mib(bytes.after)} after, fresh ${mib(bytes.fresh)}`,
        `the purge says: ${purge.tables} tables, ${mib(purge.bytes_before)} before, ${mib(purge.bytes_after)} after`,
        `marks of erased bodies before the purge: ${placesLine(before.erased)}`,
        `… and after it, once binary logs were purged, too: ${placesLine(after.erased)}; it says of them: ${purge.logs_left ?? 'written over'}`,
        ...after.files,
      ],
    };
  },
});

const mib = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

async function retain(stage: Stage, store: OpenStore, size: Size) {
  stage.say(`${grouped(size.rows)} rows are written`);
  const rows = rowsOfRun(size.rows);
  const watched = await watchedWrites(stage, store, size, rows);
  stage.say('waiting until what is not kept is erased');
  await untilErased(stage, rows.length);
  const erasures = await erasing(store).erasures();
  for (const { row_key } of rows.slice(0, size.erased)) {
    const { state, waits_for } = await erasures.erase({ row_key, reason: REASON });
    if (state !== 'erased') throw new Error(`an erasure waits for ${waits_for}`);
  }
  const folder = join(stage.cluster.folder, 'servers');
  const before = await searchFiles(folder);
  const bytes = { before: tableBytes(folder, DATASTORE), after: 0, fresh: 0 };
  stage.say(`on disk before the purge: ${placesLine(before.erased)}; ${mib(bytes.before)}`);
  const purge = await purgeAll(stage, store);
  await copyFresh(stage);
  await settle(stage);
  bytes.after = tableBytes(folder, DATASTORE);
  bytes.fresh = tableBytes(folder, FRESH);
  return { watched, before, after: await searchFiles(folder), purge, bytes };
}

function rowsOfRun(count: number): readonly WrittenRow[] {
  return Array.from({ length: count }, () => ({ row_key: randomUUID(), acked: 0 }));
}

async function watchedWrites(
  { world }: Stage,
  { datastore }: OpenStore,
  { versions, marked, erased, filler: length }: Size,
  rows: readonly WrittenRow[],
): Promise<Watched> {
  const ending = new AbortController();
  const reading = Array.from({ length: READERS }, (_, number) =>
    watchReads(datastore, rows, new Random(world.seed, 'retention', number), ending.signal),
  );
  const filler = new Random(world.seed, 'filler', 0);
  const cellsOf = (row_key: string, row: number, version: number): readonly NewCell[] => {
    const body = { row, version, filler: textOf(filler, length) };
    const large = { row_key, column_name: LARGE, ref_key: version, body };
    if (version > marked) return [large];
    const fate = row < erased || version <= marked - KEPT ? 'erased' : 'kept';
    return [large, { row_key, column_name: MARKED, ref_key: version, body: markedBody(fate) }];
  };
  const work: { readonly version: number; readonly from: number }[] = [];
  for (let version = 1; version <= versions; version += 1)
    for (let from = 0; from < rows.length; from += BATCH) work.push({ version, from });
  const write = async (): Promise<void> => {
    for (let next = work.shift(); next && !world.signal.aborted; next = work.shift()) {
      const { version, from } = next;
      const some = rows.slice(from, from + BATCH);
      await putAll(
        datastore,
        some.flatMap(({ row_key }, position) => cellsOf(row_key, from + position, version)),
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

function textOf(random: Random, length: number): string {
  let text = '';
  while (text.length < length) text += random.integer(0, 2 ** 31).toString(36);
  return text.slice(0, length);
}

async function untilErased(stage: Stage, rows: number): Promise<void> {
  const bodies = async (): Promise<number> => {
    const counts = await onEachShard(stage.access.groups, async (client, shard) => {
      const sql = `SELECT COUNT(*) FROM \`${shardDatabase(DATASTORE, shard)}\`.entity WHERE column_name IN ('${LARGE}', '${MARKED}') AND LEFT(body, 1) <> X'00'`;
      return toNumber((await rowsOf(client, sql))[0]?.[0]);
    });
    return sumOf(counts);
  };
  let left = 0;
  const isDone = async (): Promise<boolean> => (left = await bodies()) === rows * 2 * KEPT;
  if (!(await stage.comes(isDone, { patienceMs: PATIENCE_MS, pollMs: 1000 })))
    throw new Error(`${left} bodies are left, wanted ${rows * 2 * KEPT}`);
}

async function purgeAll(stage: Stage, store: OpenStore): Promise<Purge> {
  const operations = await erasing(store).retention();
  let purge = await operations.purge();
  stage.say('the purge goes on');
  await stage.comes(async () => (purge = (await operations.retention()).purge ?? purge).state === 'purged', {
    patienceMs: PATIENCE_MS,
    pollMs: 500,
  });
  if (purge.state !== 'purged') throw new Error(`the purge waits for ${purge.waits_for}`);
  return purge;
}

async function copyFresh(stage: Stage): Promise<void> {
  await onEachShard(stage.access.groups, async (client, shard) => {
    const [from, to] = [shardDatabase(DATASTORE, shard), shardDatabase(FRESH, shard)];
    const change = (sql: string): Promise<unknown> => client.change({ sql, parameters: [] });
    await change(`CREATE DATABASE ${to}`);
    const names = `SELECT table_name FROM information_schema.tables WHERE table_schema = '${from}'`;
    for (const [name] of await rowsOf(client, names)) {
      const table = toText(name ?? null);
      await change(`CREATE TABLE ${to}.${table} LIKE ${from}.${table}`);
      await change(`INSERT INTO ${to}.${table} SELECT * FROM ${from}.${table} ORDER BY 1`);
    }
  });
}

/** Until all nodes have what the writers have, in their files of tables, and no binary log has more than what comes now. */
async function settle(stage: Stage): Promise<void> {
  await onEachGroup(stage.access.groups, async (client, group) => {
    const nodes = Array.from({ length: client.nodes }, (_, node) => node);
    const ask = (sql: string, node: number): Promise<readonly SqlRow[]> =>
      client.select({ sql, parameters: [] }, { node });
    await client.change({ sql: 'CREATE DATABASE settled', parameters: [] });
    for (const node of nodes)
      await stage.comes(async () => (await ask("SHOW DATABASES LIKE 'settled'", node)).length > 0, {
        patienceMs: PATIENCE_MS,
        pollMs: 200,
      });
    stage.say(`${group}: binary logs are purged`);
    for (const node of nodes) for (const what of ['BINARY LOGS', 'RELAY LOGS']) await ask(`FLUSH ${what}`, node);
    // Replicas read the new ones by then: those that are read are not purged.
    await stage.wait(SETTLING_MS);
    for (const node of nodes) {
      await ask('PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY', node);
      await ask('SET GLOBAL innodb_max_dirty_pages_pct = 0', node);
    }
  });
  // Pages that are dirty are written.
  await stage.wait(SETTLING_MS);
}

function tableBytes(folder: string, datastore: string): number {
  const isOf = new RegExp(`/${datastore}_\\d+/[^/]+\\.ibd$`, 'u');
  return sumOf(
    filesIn(folder)
      .filter((file) => isOf.test(file))
      .map((file) => statSync(file).size),
  );
}

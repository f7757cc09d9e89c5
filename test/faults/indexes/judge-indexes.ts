import { rowKeyOf } from '../../../shared/address.ts';
import { decodeBody } from '../../../shared/body/codec.ts';
import type { Json } from '../../../shared/cell.ts';
import { keyOfValue, shardOfValue } from '../../../shared/definitions/field-value.ts';
import { followerLag } from '../../../shared/follow/follower-lag.ts';
import { columnsOf, entriesOf } from '../../../shared/index/entry.ts';
import { fromSql, indexTable, type PhysicalIndex } from '../../../shared/index/index-table.ts';
import { pendingMarks } from '../../../shared/index/repair/pending-marks.ts';
import { REPAIR_FOLLOWER } from '../../../shared/index/repair/repair-follower.ts';
import { verifyIndex, type IndexProblem } from '../../../shared/index/verify.ts';
import { toBytes, toNumber, toText } from '../../../shared/sql/cell-rows.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { onEachShard, rowsOf } from '../../support/past-the-store.ts';
import type { RunWorld } from '../../support/run-world.ts';
import type { GroupAccess, OpenStore } from '../../support/store-access.ts';
import { until } from '../../support/until.ts';
import { untilBuffersEmpty } from '../aftermath.ts';
import { sumOf } from '../fault-run.ts';

/**
 * Compares an index with the cells, both as in the tables of the groups' writers: queries find these entries, whatever
 * versions, tombstones and leases say. Also returns how many there should be.
 */
export async function compareTables(
  groups: readonly GroupAccess[],
  datastore: string,
  shards: number,
  index: PhysicalIndex,
): Promise<{ readonly problems: Problems; readonly wanted: number }> {
  const wanted = new Map<string, string>();
  const held = new Map<string, string>();
  await onEachShard(
    groups,
    async (client, shard) => {
      await addWanted(client, { datastore, shard, shards, index, into: wanted });
      await addHeld(client, { datastore, shard, index, into: held });
    },
    datastore,
  );
  const problems = { ...NONE };
  for (const [key, values] of wanted) {
    const there = held.get(key);
    if (there === undefined) problems.missing += 1;
    else if (there !== values) problems.wrong += 1;
  }
  for (const key of held.keys()) if (!wanted.has(key)) problems.extra += 1;
  return { problems, wanted: wanted.size };
}

interface ShardPart {
  readonly datastore: string;
  readonly shard: number;
  readonly index: PhysicalIndex;
  /** Values by shard, row key and value of the shard field. */
  readonly into: Map<string, string>;
}

async function addWanted(
  client: SqlClient,
  { datastore, shard, shards, index, into }: ShardPart & { readonly shards: number },
): Promise<void> {
  const { definition } = index;
  const columns = columnsOf(definition);
  const sql = `SELECT row_key, column_name, ref_key, body FROM ${entityTable(datastore, shard)} WHERE column_name IN (${columns.map(() => '?').join(', ')})`;
  const latest = new Map<string, Map<string, { readonly ref_key: number; readonly body: Uint8Array }>>();
  const named = columns.map((column) => Buffer.from(column));
  for (const [rowKey, column, refKey, body] of await rowsOf(client, sql, named)) {
    const row = rowKeyOf(toBytes(rowKey));
    const ofRow = latest.get(row) ?? new Map();
    latest.set(row, ofRow);
    const ref_key = toNumber(refKey);
    if ((ofRow.get(toText(column))?.ref_key ?? -1) < ref_key)
      ofRow.set(toText(column), { ref_key, body: toBytes(body) });
  }
  const [shardField] = definition.fields;
  for (const [row_key, ofRow] of latest) {
    const bodies = new Map<string, Json>([...ofRow].map(([column, { body }]) => [column, decodeBody(body)]));
    const { values } = entriesOf(definition, bodies);
    const first = values?.[0] ?? null;
    if (values && first !== null && shardField)
      into.set(
        `${shardOfValue(first, shardField.type, shards)}/${row_key}/${keyOfValue(first)}`,
        values.map(keyOfValue).join('/'),
      );
  }
}

async function addHeld(client: SqlClient, { datastore, shard, index, into }: ShardPart): Promise<void> {
  const { fields } = index.definition;
  const sql = `SELECT row_key, ${fields.map((_, position) => `f${position}`).join(', ')} FROM ${indexTable(datastore, shard, index)} WHERE tombstone_at IS NULL`;
  for (const [rowKey, ...columns] of await rowsOf(client, sql)) {
    const values = fields.map(({ type }, position) => fromSql(columns[position] ?? null, type)).map(keyOfValue);
    into.set(`${shard}/${rowKeyOf(toBytes(rowKey))}/${values[0] ?? keyOfValue(null)}`, values.join('/'));
  }
}

type Problems = Record<IndexProblem['kind'], number>;
const NONE: Problems = { missing: 0, extra: 0, wrong: 0 };

const KINDS = ['missing', 'extra', 'wrong'] as const;

const total = (problems: Problems): number => sumOf(Object.values(problems));

/** "0 missing, 0 extra, 0 wrong" */
export function problemsText(problems: Problems): string {
  return KINDS.map((kind) => `${problems[kind].toLocaleString('en-US')} ${kind}`).join(', ');
}

export type Judged = Awaited<ReturnType<typeof judge>>;

/** Compares indexes with the cells, in both ways. Nothing may be written at that time. */
export async function judge(store: OpenStore, groups: readonly GroupAccess[], indexes: readonly PhysicalIndex[]) {
  const [problems, inTables]: [Problems, Problems] = [{ ...NONE }, { ...NONE }];
  let entries = 0;
  for (const index of indexes) {
    const verified = await verifyIndex(store.context, store.name, index, { settleMs: 0 });
    for (const error of verified.failed.values()) throw error;
    for (const kind of KINDS) problems[kind] += verified.found[kind];
    const compared = await compareTables(groups, store.name, store.datastore.shards, index);
    for (const kind of KINDS) inTables[kind] += compared.problems[kind];
    entries += compared.wanted;
  }
  return { problems, inTables, entries };
}

export async function liveIndexes({ context, name }: OpenStore): Promise<readonly PhysicalIndex[]> {
  context.topology.refresh();
  const catalogues = await context.topology.indexes(name);
  return catalogues.flatMap((catalogue) =>
    catalogue.versions
      .filter(({ state }) => state === 'live')
      .map(({ hash, definition }) => ({ name: catalogue.name, hash, definition })),
  );
}

/** Returns the worse of both comparisons. */
export function resultOf({ problems, inTables }: Judged): string {
  return problemsText(total(inTables) > total(problems) ? inTables : problems);
}

export function isClean({ problems, inTables }: Judged): boolean {
  return total(problems) + total(inTables) === 0;
}

const POLL_MS = 250;
const PATIENCE_MS = 90_000;

/** Waits until the buffers are empty and the repair, if one runs, has seen every cell and has no work left. */
export async function untilQuiet(
  store: OpenStore,
  isRepaired: boolean,
  { signal, say }: Pick<RunWorld, 'signal' | 'say'>,
): Promise<void> {
  const start = performance.now();
  const { rows, seconds } = await untilBuffersEmpty(store.datastore, PATIENCE_MS, signal);
  if (rows > 0) throw new Error(`${rows} writes are left in the buffer`);
  if (!isRepaired) return;
  await until('the repair has caught up', () => isCaughtUp(store), {
    pollMs: POLL_MS,
    patienceMs: start + 2 * PATIENCE_MS - performance.now(),
    signal,
  });
  say(
    `buffers empty after ${seconds.toFixed(1)} s, the repair caught up after ${((performance.now() - start) / 1000).toFixed(1)} s`,
  );
}

async function isCaughtUp({ context, name, stateTable }: OpenStore): Promise<boolean> {
  const lag = await followerLag(stateTable, context, { name: REPAIR_FOLLOWER, datastore: name });
  // A shard without cells may have no offset.
  if (lag.some(({ offset = 0, head }) => head === undefined || offset !== head)) return false;
  const pending = await pendingMarks(stateTable, name).read(await context.groups.names(), lag.length);
  return pending.length === 0;
}

import { rowKeyBytes, shardDatabase } from '../../../shared/address.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { NewCell } from '../../../shared/cell.ts';
import type { DatastoreDefinition } from '../../../shared/definitions/definitions.ts';
import { createIndexTable, indexTableName } from '../../../shared/index/index-table.ts';
import { listFirstVersions } from '../../../shared/migrate/index-versions.ts';
import { CONTROL_STEPS, SHARD_STEPS } from '../../../shared/migrate/steps.ts';
import type { SqlClient, Statement } from '../../../shared/sql/client.ts';
import { bodyHash } from '../../../shared/sql/statements/insert-buffered.ts';
import { createDatastore, writeGroups } from '../../../shared/topology/dynamo-topology.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { definitionHash } from '../../../shared/topology/index-catalogue.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';
import { rowsOfShard } from '../../support/datastore-conformance.ts';
import { shardOfValue } from '../../../shared/definitions/field-value.ts';

/** A datastore that a release left behind. Its shards go round the groups. */
export interface Release {
  /** The control steps that it knew, counted from the first; 0: there was none. */
  readonly steps: number;
  /** Of one index, `city_index`: a city, a fare. */
  readonly datastore: DatastoreDefinition;
  readonly groups: readonly GroupAddress[];
  readonly connect: (group: GroupAddress) => SqlClient;
  readonly topologyTable: DynamoTable;
}

/** A cell, and where it is. */
export type PlacedCell = NewCell & { readonly shard: number };

/** What it held. */
export interface Held {
  /** Stored on their primaries. */
  readonly stored: readonly (PlacedCell & { readonly added_id: number })[];
  /** Buffered on a secondary, and nowhere else: one of each shard. */
  readonly waiting: readonly PlacedCell[];
}

/** Cells stored in each shard: added ids 1 to 4. */
export const STORED_A_SHARD = 4;

const CITIES = ['Lisbon', 'Porto', 'Faro'];

/**
 * Leaves a datastore with cells, index entries and buffered writes as a release did that knew only the first steps:
 * tables by the steps, which never change, and rows by statements that stay as that release sent them, whatever is sent
 * today. Columns of later steps are named in none of them.
 */
export async function leaveRelease(release: Release): Promise<Held> {
  const { steps, groups, datastore, topologyTable } = release;
  if (steps === 0) return { stored: [], waiting: [] };
  const held = rowsOf(datastore.shards);
  await Promise.all(groups.map((_, position) => fillGroup(release, position, held)));
  // There was no Data API yet, which knows groups by the ARN of their cluster.
  await writeGroups(
    topologyTable,
    groups.map(({ clusterArn: _clusterArn, ...known }) => known as GroupAddress),
  );
  await listFirstVersions(topologyTable, datastore);
  const homes = Array.from({ length: datastore.shards }, (_, shard) => ({
    group: groups[shard % groups.length]?.name ?? '',
    epoch: 1,
  }));
  await createDatastore(topologyTable, { datastore: datastore.name, shards: datastore.shards, homes });
  return held;
}

/** Two rows of each shard, one of them corrected, and a third that waits. */
function rowsOf(shards: number): Held {
  const ofShards = Array.from({ length: shards }, (_, shard) => {
    const [one = '', two = '', late = ''] = rowsOfShard(shard, shards, 3);
    const base = (row_key: string, ref_key: number, fare: number): NewCell => ({
      row_key,
      column_name: 'BASE',
      ref_key,
      body: { city: CITIES[shard % CITIES.length] ?? '', fare, note: 'long'.repeat(20) },
    });
    const cells: NewCell[] = [
      base(one, 1, 10),
      base(two, 1, 20),
      { row_key: one, column_name: 'STATUS', ref_key: 0, body: { is_completed: true } },
      base(two, 2, 21),
    ];
    return {
      stored: cells.map((cell, position) => ({ ...cell, shard, added_id: position + 1 })),
      waiting: { ...base(late, 1, 30), shard },
    };
  });
  return { stored: ofShards.flatMap(({ stored }) => stored), waiting: ofShards.map(({ waiting }) => waiting) };
}

/** What a row's latest cell of BASE says: its city, its fare. */
export function fieldsOf({ body }: NewCell): { readonly city: string; readonly fare: number } {
  const { city, fare } = Object(body);
  return { city, fare };
}

/** The latest cell of BASE of each row. */
export function latestBases<T extends NewCell>(cells: readonly T[]): readonly T[] {
  const bases = cells.filter(({ column_name }) => column_name === 'BASE').sort((a, b) => a.ref_key - b.ref_key);
  return [...new Map(bases.map((cell) => [cell.row_key, cell])).values()];
}

async function fillGroup(
  { steps, datastore, groups, connect }: Release,
  position: number,
  { stored, waiting }: Held,
): Promise<void> {
  const group = groups[position];
  if (!group) return;
  const next = (position + 1) % groups.length;
  const { name, shards } = datastore;
  const owner = (shard: number): number => shard % groups.length;
  const client = connect(group);
  try {
    const owned = Array.from({ length: shards }, (_, shard) => shard).filter((shard) => owner(shard) === position);
    for (const sql of [...controlTables(steps), ...owned.flatMap((shard) => shardTables(datastore, shard))])
      await client.change({ sql, parameters: [] });
    for (const cell of stored.filter(({ shard }) => owner(shard) === position))
      await client.change(appendThen(name, cell));
    for (const cell of latestBases(stored)) {
      const shard = shardOfValue(fieldsOf(cell).city, 'string', shards);
      if (owner(shard) === position) await client.change(entryThen(datastore, shard, cell));
    }
    // Copies for the next group: of cells that it has, and of those that wait for it.
    const copies = [...stored.filter(({ added_id }) => added_id === 1), ...waiting].filter(
      ({ shard }) => owner(shard) === next,
    );
    for (const cell of copies) await client.change(bufferThen(name, cell));
  } finally {
    await client.close();
  }
}

function controlTables(steps: number): readonly string[] {
  return CONTROL_STEPS.slice(0, steps).flatMap((statements, position) => [
    ...statements,
    `INSERT INTO schemaless.migration (step, applied_at) VALUES (${position + 1}, SYSDATE(6))`,
  ]);
}

function shardTables(datastore: DatastoreDefinition, shard: number): readonly string[] {
  const database = shardDatabase(datastore.name, shard);
  return [
    ...(SHARD_STEPS[0]?.(database) ?? []),
    ...datastore.indexes.map((index) =>
      createIndexTable(database, indexTableName(index.name, definitionHash(index)), index),
    ),
    `INSERT INTO schemaless.shard (datastore, shard, epoch, step) VALUES ('${datastore.name}', ${shard}, 1, 1)`,
  ];
}

/** An append as the first release sent it. */
export function appendThen(datastore: string, { shard, row_key, column_name, ref_key, body }: PlacedCell): Statement {
  const entity = `${shardDatabase(datastore, shard)}.entity`;
  return {
    sql:
      `INSERT INTO ${entity} (added_id, row_key, column_name, ref_key, body, created_at) ` +
      `SELECT LAST_INSERT_ID(COALESCE(last.added_id, log.first_id - 1) + 1), ?, ?, ?, ?, GREATEST(SYSDATE(6), COALESCE(last.created_at, '2000-01-01')) ` +
      `FROM schemaless.shard AS log LEFT JOIN ${entity} AS last ON last.added_id = ` +
      `(SELECT tip.added_id FROM ${entity} AS tip WHERE tip.added_id >= log.first_id ORDER BY tip.added_id DESC LIMIT 1 FOR UPDATE) ` +
      `WHERE log.datastore = ? AND log.shard = ? AND log.epoch = 1 AND log.state = 'open' FOR UPDATE`,
    parameters: [rowKeyBytes(row_key), Buffer.from(column_name), ref_key, encodeBody(body), datastore, shard],
  };
}

/** A copy on a secondary as the first release sent it. */
export function bufferThen(datastore: string, { shard, row_key, column_name, ref_key, body }: PlacedCell): Statement {
  const encoded = encodeBody(body);
  return {
    sql: 'INSERT INTO schemaless.buffer (datastore, shard, row_key, column_name, ref_key, body, body_hash, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, SYSDATE(6)) ON DUPLICATE KEY UPDATE writers = writers + 1',
    parameters: [datastore, shard, rowKeyBytes(row_key), Buffer.from(column_name), ref_key, encoded, bodyHash(encoded)],
  };
}

/** An entry of the datastore's index. */
function entryThen(
  { name, indexes }: DatastoreDefinition,
  shard: number,
  cell: PlacedCell & { readonly added_id: number },
): Statement {
  const [index] = indexes;
  if (!index) throw new Error('wanted a datastore with an index');
  const { city, fare } = fieldsOf(cell);
  return {
    sql: `INSERT INTO ${shardDatabase(name, shard)}.${indexTableName(index.name, definitionHash(index))} (f0, f1, row_key, epoch, added_id) VALUES (?, ?, ?, 1, ?)`,
    parameters: [Buffer.from(city), fare, rowKeyBytes(cell.row_key), cell.added_id],
  };
}

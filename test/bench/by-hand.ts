import { createHash, randomBytes } from 'node:crypto';
import { createPool, type Pool, type PoolOptions, type ResultSetHeader } from 'mysql2';
import type { EncodedCell } from '../../shared/sql/encoded-cell.ts';
import { rowKeyBytes, shardOf } from '../../shared/address.ts';
import { decodeBody, encodeBody } from '../../shared/body/codec.ts';
import { LIMITS, type NewCell } from '../../shared/cell.ts';
import type { IndexDefinition } from '../../shared/definitions/definitions.ts';
import type { PhysicalIndex } from '../../shared/index/index-table.ts';
import type { SqlRow, Statement } from '../../shared/sql/client.ts';
import { numberCells } from '../../shared/sql/statements/number-cells.ts';
import { numberedAppend } from '../../shared/sql/statements/numbered-append.ts';
import { renumber } from '../../shared/sql/statements/renumber.ts';
import { insertBuffered } from '../../shared/sql/statements/insert-buffered.ts';
import { insertEntries } from '../../shared/index/statements/put-entries.ts';
import { selectRowStates } from '../../shared/sql/statements/select-row-states.ts';
import { unionOf } from '../../shared/sql/union.ts';
import type { DatastoreTopology } from '../../shared/topology/topology.ts';
import type { GroupAccess } from '../support/store-access.ts';
import { readField, shardOfValue } from '../../shared/definitions/field-value.ts';

/** An index with one entry for each trip. */
export const DRIVER_INDEX: IndexDefinition = {
  name: 'driver_index',
  fields: [{ field: 'driver_uuid', type: 'UUID', column_key: 'BASE' }],
  keys: [],
};

/**
 * The least code with the effect of the store's: its statements, as texts made once, sent through mysql2, with the
 * store's encoding. It has no checks, failover, retries or metrics.
 */
export interface ByHand extends AsyncDisposable {
  run(group: string, statement: Pick<Statement, 'sql' | 'parameters'>): Promise<readonly SqlRow[] & ResultSetHeader>;
  groupOf(shard: number): string;
  /** Buffers, appends and writes one index entry. */
  put(cell: NewCell): Promise<void>;
  append(cell: NewCell): Promise<void>;
}

interface ByHandOptions {
  readonly groups: readonly GroupAccess[];
  readonly topology: DatastoreTopology;
  /** An index of one column and field. */
  readonly index: PhysicalIndex;
  /** The number of connections to each group's writer. */
  readonly connections: number;
}

/** The further options of the store's own pools. */
const STORES = {
  multipleStatements: true,
  timezone: 'Z',
  dateStrings: true,
  supportBigNumbers: true,
  bigNumberStrings: true,
} as const;

const [DUMMY_KEY, DUMMY] = ['00000000-0000-0000-0000-000000000000', Buffer.from([0])];

export function byHand({ groups, topology, index, connections }: ByHandOptions): ByHand {
  const { datastore } = topology;
  const pools = new Map(groups.map((group) => [group.name, openPool(group, connections, STORES)]));
  const names = groups.map(({ name }) => name);
  const [field] = index.definition.fields;
  if (!field) throw new Error('an index without fields');
  const { shards } = topology;
  const columns = [{ column: field.column_key, cells: 2 }];
  const dummy: EncodedCell = { row_key: DUMMY_KEY, column_name: 'BASE', ref_key: 1, body: null, encoded: DUMMY };
  const fenceOf = (shard: number) => ({ datastore, shard, epoch: topology.homes[shard]?.epoch ?? 0 });
  const texts = Array.from({ length: shards }, (_, shard) => ({
    append: numberedAppend(fenceOf(shard), [dummy]).sql,
    state: unionOf(selectRowStates(datastore, [{ row_key: DUMMY_KEY, shard }], columns, LIMITS.answerBytes)).sql,
    entry: insertEntries(datastore, shard, index, [
      { row_key: DUMMY_KEY, values: [DUMMY_KEY], version: { epoch: 1, added_id: 1 } },
    ]).sql,
  }));
  const [numbers] = numberCells([{ ...fenceOf(0), cells: [dummy] }]);
  if (!numbers) throw new Error('wanted numbers, got none');
  const bufferText = insertBuffered(datastore, [{ ...dummy, shard: 0, writer: new Uint8Array(8) }]).sql;
  const groupOf = (shard: number): string => topology.homes[shard]?.group ?? '';
  const secondaryOf = (primary: string): string => {
    const others = names.filter((name) => name !== primary);
    return others[Math.floor(Math.random() * others.length)] ?? '';
  };
  const run: ByHand['run'] = (group, { sql, parameters }) =>
    new Promise((resolve, reject) => {
      pools
        .get(group)
        ?.query({ sql, values: [...parameters] }, (error, result) =>
          error ? reject(error) : resolve(result as never),
        );
    });

  /** Sends the numbers and the cell as a transaction in one packet, like the store. */
  async function append({ row_key, column_name, ref_key }: NewCell, encoded: Uint8Array, shard: number): Promise<void> {
    const { epoch } = fenceOf(shard);
    const cell = [rowKeyBytes(row_key), Buffer.from(column_name), ref_key, encoded];
    for (let isRenumbered = false; ; isRenumbered = true) {
      const done = (await run(groupOf(shard), {
        sql: `START TRANSACTION;${numbers?.sql};${texts[shard]?.append};COMMIT`,
        parameters: [datastore, epoch, shard, ...cell, datastore, shard, epoch],
      })) as readonly unknown[] as readonly ResultSetHeader[];
      if (done[2]?.affectedRows === 1) return;
      if (isRenumbered) throw new Error('a row was not appended');
      await run(groupOf(shard), renumber(fenceOf(shard)));
    }
  }

  return {
    run,
    groupOf,
    append: (cell) => append(cell, encodeBody(cell.body), shardOf(cell.row_key, shards)),
    async put(cell) {
      const encoded = encodeBody(cell.body);
      const shard = shardOf(cell.row_key, shards);
      const [primary, rowKey, column] = [groupOf(shard), rowKeyBytes(cell.row_key), Buffer.from(cell.column_name)];
      await run(secondaryOf(primary), {
        sql: bufferText,
        parameters: [
          datastore,
          shard,
          rowKey,
          column,
          cell.ref_key,
          encoded,
          createHash('sha256').update(encoded).digest(),
          null,
          randomBytes(8),
        ],
      });
      await append(cell, encoded, shard);
      const states = await run(primary, {
        sql: texts[shard]?.state ?? '',
        parameters: [rowKey, Buffer.from(field.column_key), datastore, shard, 5],
      });
      // The entry for the row's latest cell.
      const latest = latestOf(states);
      const value = readField(decodeBody(latest?.[4] as Uint8Array), field.field, 'UUID') as string;
      const entryShard = shardOfValue(value, 'UUID', shards);
      await run(groupOf(entryShard), {
        sql: texts[entryShard]?.entry ?? '',
        parameters: [rowKeyBytes(value), rowKey, Number(latest?.[8]), Number(latest?.[2])],
      });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...pools.values()].map((pool) => new Promise((resolve) => pool.end(resolve))));
    },
  };
}

function latestOf(states: readonly SqlRow[]): SqlRow | undefined {
  const cells = states.filter(([, rowKey]) => rowKey !== null);
  return cells.toSorted((one, other) => Number(one[5]) - Number(other[5])).at(-1);
}

/** Opens a pool to a group's writer, with the options that the store's pools and plain ones share. */
export function openPool({ writer, user, password }: GroupAccess, connectionLimit: number, more?: PoolOptions): Pool {
  const { host, port } = writer;
  const common = { charset: 'utf8mb4_bin', rowsAsArray: true, enableKeepAlive: true };
  return createPool({ host, port, user, password, connectionLimit, ...common, ...more });
}

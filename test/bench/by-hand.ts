import { createHash, randomBytes } from 'node:crypto';
import { createPool, type Pool, type ResultSetHeader } from 'mysql2';
import { rowKeyBytes, shardOf } from '../../shared/address.ts';
import { decodeBody, encodeBody } from '../../shared/body/codec.ts';
import { LIMITS, type NewCell } from '../../shared/cell.ts';
import type { IndexDefinition } from '../../shared/definitions/definitions.ts';
import type { PhysicalIndex } from '../../shared/index/index-table.ts';
import type { SqlRow, SqlValue, Statement } from '../../shared/sql/client.ts';
import type { EncodedCell } from '../../shared/sql/statements/append-cells.ts';
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

/** One entry for each trip. */
export const DRIVER_INDEX: IndexDefinition = {
  name: 'driver_index',
  fields: [{ field: 'driver_uuid', type: 'UUID', column_key: 'BASE' }],
  keys: [],
};

/**
 * What somebody would write who knew exactly what to do and left out everything else: the store's statements, texts
 * made once, straight through mysql2, with the store's encoding; nobody checks, routes round failures, retries or
 * measures.
 */
export interface ByHand extends AsyncDisposable {
  run(group: string, statement: Pick<Statement, 'sql' | 'parameters'>): Promise<readonly SqlRow[] & ResultSetHeader>;
  groupOf(shard: number): string;
  /** Buffer, append, one index entry. */
  put(cell: NewCell): Promise<void>;
  append(cell: NewCell): Promise<void>;
  /** `put` for cells of different rows: a statement for each group, shard and table. */
  batchPut(cells: readonly NewCell[]): Promise<void>;
}

interface ByHandOptions {
  readonly groups: readonly GroupAccess[];
  readonly topology: DatastoreTopology;
  /** Of one column and field. */
  readonly index: PhysicalIndex;
  /** To each group's writer. */
  readonly connections: number;
}

type Sent = Pick<Statement, 'sql' | 'parameters'>;

const [DUMMY_KEY, DUMMY] = ['00000000-0000-0000-0000-000000000000', Buffer.from([0])];

export function byHand({ groups, topology, index, connections }: ByHandOptions): ByHand {
  const { datastore } = topology;
  const pools = new Map(groups.map((group) => [group.name, openPool(group, connections)]));
  const names = groups.map(({ name }) => name);
  const [field] = index.definition.fields;
  if (!field) throw new Error('an index without fields');
  const { shards } = topology;
  const columns = [{ column: field.column_key, cells: 2 }];
  const dummy: EncodedCell = { row_key: DUMMY_KEY, column_name: 'BASE', ref_key: 1, body: null, encoded: DUMMY };
  const fenceOf = (shard: number) => ({ datastore, shard, epoch: topology.homes[shard]?.epoch ?? 0 });
  const numbersOf = (shard: number, cells: readonly EncodedCell[]): Statement => {
    const fence = fenceOf(shard);
    const [numbers] = numberCells([{ ...fence, numbered: numberedAppend(fence, cells) }]);
    if (!numbers) throw new Error('wanted numbers, got none');
    return numbers;
  };
  const texts = Array.from({ length: shards }, (_, shard) => ({
    append: numberedAppend(fenceOf(shard), [dummy]).insert.sql,
    state: unionOf(selectRowStates(datastore, [{ row_key: DUMMY_KEY, shard }], columns, LIMITS.answerBytes)).sql,
    entry: insertEntries(datastore, shard, index, [
      { row_key: DUMMY_KEY, values: [DUMMY_KEY], version: { epoch: 1, added_id: 1 } },
    ]).sql,
  }));
  const numbersText = numbersOf(0, [dummy]).sql;
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

  /** The numbers, and the cells: a transaction in one packet, as the store has it. */
  async function appendNumbered(
    shard: number,
    [numbers, insert]: readonly [Sent, Sent],
    wanted: number,
  ): Promise<void> {
    for (let isRenumbered = false; ; isRenumbered = true) {
      const done = (await run(groupOf(shard), {
        sql: `START TRANSACTION;${numbers.sql};${insert.sql};COMMIT`,
        parameters: [...numbers.parameters, ...insert.parameters],
      })) as readonly unknown[] as readonly ResultSetHeader[];
      const appended = done[2]?.affectedRows;
      if (appended === wanted) return;
      if (isRenumbered) throw new Error(`${appended} of ${wanted} rows appended`);
      await run(groupOf(shard), renumber(fenceOf(shard)));
    }
  }

  async function append({ row_key, column_name, ref_key }: NewCell, encoded: Uint8Array, shard: number): Promise<void> {
    const { epoch } = fenceOf(shard);
    const numbers = { sql: numbersText, parameters: [datastore, epoch, shard] };
    const parameters = [rowKeyBytes(row_key), Buffer.from(column_name), ref_key, encoded, datastore, shard, epoch];
    await appendNumbered(shard, [numbers, { sql: texts[shard]?.append ?? '', parameters }], 1);
  }

  function appendSeveral(shard: number, cells: readonly EncodedCell[]): Promise<void> {
    const { insert } = numberedAppend(fenceOf(shard), cells);
    return appendNumbered(shard, [numbersOf(shard, cells), insert], cells.length);
  }

  /** The entry that the latest cell of a row asks for. */
  function entryOf(
    rowKey: Uint8Array,
    latest: SqlRow | undefined,
  ): { readonly shard: number; readonly parameters: readonly (SqlValue | Uint8Array)[] } {
    const value = readField(decodeBody(latest?.[4] as Uint8Array), field?.field ?? '', 'UUID') as string;
    return {
      shard: shardOfValue(value, 'UUID', shards),
      parameters: [rowKeyBytes(value), rowKey, Number(latest?.[8]), Number(latest?.[2])],
    };
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
      const entry = entryOf(rowKey, latestOf(states)[0]);
      await run(groupOf(entry.shard), { sql: texts[entry.shard]?.entry ?? '', parameters: entry.parameters });
    },
    async batchPut(cells) {
      const encoded = cells.map((cell) => ({
        ...cell,
        encoded: encodeBody(cell.body),
        shard: shardOf(cell.row_key, shards),
        writer: new Uint8Array(8),
      }));
      await Promise.all(
        [...Map.groupBy(encoded, ({ shard }) => groupOf(shard))].map(async ([primary, ofGroup]) => {
          await run(secondaryOf(primary), insertBuffered(datastore, ofGroup));
          await Promise.all(
            [...Map.groupBy(ofGroup, ({ shard }) => shard)].map(async ([shard, ofShard]) => {
              if (ofShard.length === 1 && ofShard[0]) await append(ofShard[0], ofShard[0].encoded, shard);
              else await appendSeveral(shard, ofShard);
            }),
          );
          const found = await run(primary, unionOf(selectRowStates(datastore, ofGroup, columns, LIMITS.answerBytes)));
          const entries = latestOf(found).map((row) => entryOf(row[1] as Uint8Array, row));
          await Promise.all(
            [...Map.groupBy(entries, ({ shard }) => shard)].map(async ([shard, ofShard]) => {
              const values = ofShard.map(() => '(?, ?, ?, ?)').join(', ');
              await run(groupOf(shard), {
                sql: (texts[shard]?.entry ?? '').replace('(?, ?, ?, ?)', values),
                parameters: ofShard.flatMap(({ parameters }) => parameters),
              });
            }),
          );
        }),
      );
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...pools.values()].map((pool) => new Promise((resolve) => pool.end(resolve))));
    },
  };
}

function latestOf(states: readonly SqlRow[]): readonly SqlRow[] {
  const latest = new Map<string, SqlRow>();
  for (const cell of states) {
    const [, rowKey, , , , ref_key] = cell;
    if (rowKey === null) continue;
    const key = Buffer.from(rowKey as Uint8Array).toString('hex');
    if (Number(ref_key) > Number(latest.get(key)?.[5] ?? -Infinity)) latest.set(key, cell);
  }
  return [...latest.values()];
}

/** With the settings of the store's own pools. */
function openPool({ writer, user, password }: GroupAccess, connectionLimit: number): Pool {
  return createPool({
    host: writer.host,
    port: writer.port,
    user,
    password,
    connectionLimit,
    multipleStatements: true,
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    rowsAsArray: true,
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    enableKeepAlive: true,
  });
}

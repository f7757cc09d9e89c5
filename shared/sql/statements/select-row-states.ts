import { decodeBody } from '../../body/codec.ts';
import { rowKeyBytes } from '../../address.ts';
import type { Json } from '../../cell.ts';
import type { RowState } from '../../index/entry.ts';
import { toBytes, toNumber, toText } from '../cell-rows.ts';
import type { SqlParameter, SqlRow, Statement } from '../client.ts';
import { CONTROL, entityTable } from '../names.ts';
import { unionOf } from '../union.ts';
import type { EncodedCell } from './append-cells.ts';

/** A row whose index entries are to be computed. */
export interface RowOfShard {
  readonly row_key: string;
  readonly shard: number;
  /** Cells of it that were just written: a body that is found with these very bytes need not be decoded. @default none */
  readonly written?: readonly Pick<EncodedCell, 'encoded' | 'body'>[];
}

/** A column of the rows, and how many of its latest cells are read. */
export interface ColumnDepth {
  readonly column: string;
  readonly cells: number;
}

/**
 * The latest cells of some columns of many rows of one group, in one statement; those of a shard, and its epoch, in one
 * snapshot.
 */
export function selectRowStates(datastore: string, rows: readonly RowOfShard[], columns: readonly ColumnDepth[]): Statement {
  const byShard = Map.groupBy(rows.map(({ row_key, shard }, item) => ({ row_key, shard, item })), ({ shard }) => shard);
  const parts = [...byShard].map(([shard, ofShard]): Statement => {
    const entity = entityTable(datastore, shard);
    const parameters: SqlParameter[] = [datastore, shard];
    const selects = [`(SELECT ${ofShard[0]?.item ?? 0} AS item, epoch AS added_id, NULL AS column_name, NULL AS body FROM ${CONTROL}.shard WHERE datastore = ? AND shard = ?)`];
    for (const { row_key, item } of ofShard) {
      const key = rowKeyBytes(row_key);
      for (const { column, cells } of columns) {
        parameters.push(key, Buffer.from(column), cells);
        selects.push(`(SELECT ${item}, added_id, column_name, body FROM ${entity} WHERE row_key = ? AND column_name = ? ORDER BY ref_key DESC LIMIT ?)`);
      }
    }
    return { sql: selects.join(' UNION ALL '), parameters };
  });
  return unionOf(parts);
}

/** By row; a shard that is not here has epoch 0, so that what is computed of it never wins. */
export function toRowStates(rows: readonly SqlRow[], wanted: readonly RowOfShard[]): RowState[] {
  const states = wanted.map(({ row_key, shard, written = [] }) => ({ row_key, shard, written, added_id: 0, bodies: new Map<string, (Json | undefined)[]>() }));
  const epochs = new Map<number, number>();
  for (const [item, added_id, column_name, body] of rows) {
    const state = states[toNumber(item)];
    if (!state) throw new Error(`a row for item ${String(item)} of ${wanted.length}`);
    if (column_name === null || column_name === undefined) {
      epochs.set(state.shard, toNumber(added_id));
      continue;
    }
    state.added_id = Math.max(state.added_id, toNumber(added_id));
    const column = toText(column_name);
    const bodies = state.bodies.get(column) ?? [];
    bodies.push(body === null || body === undefined ? undefined : knownOrDecoded(toBytes(body), state.written));
    state.bodies.set(column, bodies);
  }
  return states.map(({ row_key, shard, added_id, bodies }) => ({ row_key, version: { epoch: epochs.get(shard) ?? 0, added_id }, bodies }));
}

function knownOrDecoded(stored: Uint8Array, written: NonNullable<RowOfShard['written']>): Json | undefined {
  const same = written.find(({ encoded }) => encoded.length === stored.length && Buffer.compare(encoded, stored) === 0);
  return same ? same.body : decodeOrSkip(stored);
}

/** A damaged body has no fields; reading the cell says what is wrong with it. */
export function decodeOrSkip(body: Uint8Array): Json | undefined {
  try {
    return decodeBody(body);
  } catch {
    return undefined;
  }
}

import type { SchemalessError } from '../../errors.ts';
import { rowKeyOf } from '../../address.ts';
import { PLACE_IN_SQL, placeOf } from '../../body/transaction-mark.ts';
import type { CellAddress, TransactionPlace } from '../../cell.ts';
import { fromSqlTime } from '../../time.ts';
import { toBytes, toNumber, toText } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL, entityTable } from '../names.ts';
import { unionOf } from '../union.ts';

export interface LogRange {
  readonly shard: number;
  /** The last added id done, whose cell is read again; or 0. */
  readonly at: number;
  readonly to?: number;
}

export interface LogRangesWanted {
  readonly limit: number;
  readonly withHead?: boolean;
}

export interface StoredLogEntry extends CellAddress {
  readonly added_id: number;
  readonly created_at: string;
  readonly transaction?: TransactionPlace;
}

export interface ShardLogEntries {
  readonly entries: StoredLogEntry[];
  /** The shard's epoch on this group in the same snapshot; undefined if no cell or row was found. */
  epoch: number | undefined;
  head?: number;
  /** Why the role asked first could not read this shard. */
  readonly refusal?: { readonly error: SchemalessError; readonly isAnswered: boolean };
}

/** Selects the next cells of many logs from the last cell done on, without bodies. Readers stop at holes. */
export function selectLogEntries(
  datastore: string,
  ranges: readonly LogRange[],
  { limit, withHead = false }: LogRangesWanted,
): Statement {
  const parts = ranges.map(({ shard, at, to }, item): Statement => {
    const entity = entityTable(datastore, shard);
    // Straight from the table: a derived table would be a third of the cost.
    const sql =
      `(${selectEntries(item, shard)}${withHead ? `, (SELECT MAX(added_id) FROM ${entity}) AS head` : ''} ` +
      `FROM ${entity} FORCE INDEX (PRIMARY) WHERE added_id >= ?${to === undefined ? '' : ' AND added_id <= ?'} ORDER BY added_id LIMIT ?)`;
    return {
      sql,
      parameters: [datastore, at, ...(to === undefined ? [] : [to]), at === 0 ? limit : limit + 1],
      table: entity,
    };
  });
  return unionOf(parts);
}

function selectEntries(item: number, shard: number): string {
  return `SELECT ${item} AS item, (SELECT log.epoch FROM ${CONTROL}.shard AS log WHERE log.datastore = ? AND log.shard = ${shard}) AS epoch, added_id, row_key, column_name, ref_key, created_at, ${PLACE_IN_SQL}`;
}

export function selectLogEntriesAt(datastore: string, shard: number, ids: readonly number[]): Statement {
  const entity = entityTable(datastore, shard);
  return {
    table: entity,
    sql: `${selectEntries(0, shard)} FROM ${entity} WHERE added_id IN (${ids.map(() => '?').join(', ')})`,
    parameters: [datastore, ...ids],
  };
}

/** Sorts a result by range and added id: a union keeps no order. */
export function toShardLogEntries(rows: readonly SqlRow[], ranges: number): ShardLogEntries[] {
  const found: ShardLogEntries[] = Array.from({ length: ranges }, () => ({ entries: [], epoch: undefined }));
  for (const [item, epoch, ...cell] of rows) {
    const answer = found[toNumber(item)];
    if (!answer) throw new Error(`a row for range ${String(item)} of ${ranges}`);
    if (epoch !== null) answer.epoch = toNumber(epoch);
    if (cell[6] !== undefined) answer.head = toNumber(cell[6]);
    const place = cell[5] ?? null;
    answer.entries.push({
      added_id: toNumber(cell[0]),
      row_key: rowKeyOf(toBytes(cell[1])),
      column_name: toText(cell[2]),
      ref_key: toNumber(cell[3]),
      created_at: fromSqlTime(String(cell[4])),
      ...(place !== null && { transaction: placeOf(toBytes(place)) }),
    });
  }
  for (const { entries } of found) entries.sort((one, other) => one.added_id - other.added_id);
  return found;
}

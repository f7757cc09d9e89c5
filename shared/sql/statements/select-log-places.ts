import { rowKeyOf } from '../../address.ts';
import type { CellAddress } from '../../cell.ts';
import { fromSqlTime } from '../../time.ts';
import { toBytes, toNumber, toText } from '../cell-rows.ts';
import type { SqlParameter, SqlRow, Statement } from '../client.ts';
import { CONTROL, entityTable } from '../names.ts';
import { unionOf } from '../union.ts';

export interface PlaceRange {
  readonly shard: number;
  /** The added id done last, whose cell is read once more; 0 when none is. */
  readonly at: number;
}

export interface PlacesWanted {
  /** Cells after `at`, of each shard. */
  readonly limit: number;
  /** Only cells at least this old by the server's clock; the one at `at` in any case. 0: all. */
  readonly behindMs: number;
}

/** Where a cell is in its shard's log: everything but its body. */
export interface StoredPlace extends CellAddress {
  readonly added_id: number;
  readonly created_at: string;
}

/** What was found of one range: its cells in order, still with any hole. */
export interface ShardPlaces {
  readonly places: StoredPlace[];
  /** Of the shard's row on this group, in the same snapshot; undefined where no cell was found or there is no row. */
  epoch: number | undefined;
  /** There is no next cell, and what is here was read a moment ago: nothing in it needs to be looked at again. */
  readonly isQuiet?: boolean;
}

/**
 * The next cells of many shards' logs in one statement, without bodies, starting **at** the cell done last: whether it
 * still is that cell tells whether the log was cut. The reader must still stop at a hole.
 *
 * The page is cut before the times are looked at, so that however many young cells there are, no more than a page is
 * read. NOW is one time for the whole statement: with SYSDATE a younger cell could pass after an older one did not.
 */
export function selectLogPlaces(datastore: string, ranges: readonly PlaceRange[], { limit, behindMs }: PlacesWanted): Statement {
  const parts = ranges.map(({ shard, at }, item): Statement => {
    const parameters: SqlParameter[] = [datastore, at, at === 0 ? limit : limit + 1];
    if (behindMs > 0) parameters.push(at, Math.round(behindMs * 1000));
    const sql =
      `(SELECT ${item} AS item, (SELECT log.epoch FROM ${CONTROL}.shard AS log WHERE log.datastore = ? AND log.shard = ${shard}) AS epoch, ` +
      `page.added_id, page.row_key, page.column_name, page.ref_key, page.created_at FROM ` +
      `(SELECT added_id, row_key, column_name, ref_key, created_at FROM ${entityTable(datastore, shard)} ` +
      `WHERE added_id >= ? ORDER BY added_id LIMIT ?) AS page` +
      `${behindMs > 0 ? ' WHERE page.added_id = ? OR page.created_at <= NOW(6) - INTERVAL ? MICROSECOND' : ''})`;
    return { sql, parameters };
  });
  return unionOf(parts);
}

/** The cells at certain added ids of one shard, as ranges of one: for going back in a log that was cut. */
export function selectPlacesAt(datastore: string, shard: number, ids: readonly number[]): Statement {
  return {
    sql:
      `SELECT 0 AS item, (SELECT log.epoch FROM ${CONTROL}.shard AS log WHERE log.datastore = ? AND log.shard = ${shard}) AS epoch, ` +
      `added_id, row_key, column_name, ref_key, created_at FROM ${entityTable(datastore, shard)} WHERE added_id IN (${ids.map(() => '?').join(', ')})`,
    parameters: [datastore, ...ids],
  };
}

/** Sorts a result by range, and each range by added id: a union keeps no order. */
export function toShardPlaces(rows: readonly SqlRow[], ranges: number): ShardPlaces[] {
  const found: ShardPlaces[] = Array.from({ length: ranges }, () => ({ places: [], epoch: undefined }));
  for (const [item, epoch, ...cell] of rows) {
    const answer = found[toNumber(item)];
    if (!answer) throw new Error(`a row for range ${String(item)} of ${ranges}`);
    if (epoch !== null) answer.epoch = toNumber(epoch);
    answer.places.push({
      added_id: toNumber(cell[0]),
      row_key: rowKeyOf(toBytes(cell[1])),
      column_name: toText(cell[2]),
      ref_key: toNumber(cell[3]),
      created_at: fromSqlTime(String(cell[4])),
    });
  }
  for (const { places } of found) places.sort((one, other) => one.added_id - other.added_id);
  return found;
}

import { partsOf } from '../../shared/access/ask-parts.ts';
import { toNumber } from '../../shared/sql/cell-rows.ts';
import type { SqlClient, SqlRow, Statement } from '../../shared/sql/client.ts';

/** The request of one part of `selectLogEntries`. */
interface Range {
  readonly item: number;
  readonly log: string;
  /** The added id done last. */
  readonly at: number;
}

const PART = /^\(SELECT (\d+) AS item, \(SELECT log\.epoch FROM .*? AND log\.shard = (\d+)\) AS epoch, added_id, /;

/**
 * Returns a client on which fingerprints detect nothing: at each offset it shows the cell that was read there before,
 * even if another cell, or none, is there now. Cells after the offset are shown unchanged.
 */
export function withoutFingerprints(client: SqlClient): SqlClient {
  /** By log and added id, as last read after an offset. */
  const read = new Map<string, SqlRow>();

  function asRead({ item, log, at }: Range, rows: readonly SqlRow[]): readonly SqlRow[] {
    const [there] = rows.filter((row) => addedId(row) === at);
    const after = rows.filter((row) => row !== there);
    for (const row of after) read.set(`${log}/${addedId(row)}`, row);
    const known = read.get(`${log}/${at}`) ?? there;
    if (!known) return rows;
    read.set(`${log}/${at}`, known);
    // Epoch and head, which are the same in each row, are those of now.
    const [epoch = null, ...head] = (there ?? after[0] ?? []).filter((_, column) => column === 1 || column > 6);
    return [[item, epoch, ...known.slice(2, 7), ...head], ...after];
  }

  return {
    ...client,
    async select(statement, target) {
      const rows = await client.select(statement, target);
      const ranges = partsOf(statement).flatMap(rangeOf);
      if (ranges.length === 0) return rows;
      const byItem = Map.groupBy(rows, ([item]) => toNumber(item));
      return ranges.flatMap((range) => asRead(range, byItem.get(range.item) ?? []));
    },
  };
}

function addedId(row: SqlRow): number {
  return toNumber(row[2]);
}

function rangeOf({ sql, parameters: [datastore, at] }: Statement): Range[] {
  const [, item, shard] = PART.exec(sql) ?? [];
  return item === undefined ? [] : [{ item: Number(item), log: `${datastore}/${shard}`, at: Number(at) }];
}

import type { CellAddress } from '../cell.ts';
import type { AppendedLog, SqlChange, Statement } from './client.ts';

/** Cells of one append, or hints of one insert. */
const MOST_CELLS = 100;

/** Names the statements that wait for each other: appends to one shard, and inserts of hints. */
export function laneOf({ log, hints }: Statement): string | undefined {
  if (hints) return `hints of ${hints.datastore}`;
  return log && (log.cells ?? log.isWhole) && `${log.datastore}/${log.shard} at ${log.epoch}`;
}

/** Names what this statement may be a part of: one append to a shard, or one insert of hints. */
export function jointOf({ log, hints }: Statement): string | AppendedLog | undefined {
  if (hints) return `hints of ${hints.datastore}`;
  // A transaction has an append of its own, so its shard has no other in the commit: see `mayGoTogether`.
  if (log?.isWhole) return log;
  return log?.cells && `${log.datastore}/${log.shard} at ${log.epoch}`;
}

/** Whether parts of one joint statement take another: it stays small, and appends no address twice. */
export function mayJoin(parts: readonly Statement[], next: Statement): boolean {
  const [taken, cells] = [cellsOf(parts), cellsOf([next])];
  if (taken.length + cells.length > MOST_CELLS) return false;
  return next.hints !== undefined || !taken.some((one) => cells.some((other) => isSameAddress(one, other)));
}

/** Whether a transaction with some appends of a shard takes another: all are joined, or none can be numbered. */
export function mayGoTogether(some: readonly Statement[], next: Statement): boolean {
  const [first] = some;
  if (!first) return true;
  const joint = jointOf(first);
  return joint === jointOf(next) && (joint === undefined || mayJoin(some, next));
}

function cellsOf(parts: readonly Statement[]): readonly CellAddress[] {
  return parts.flatMap(({ log, hints }): readonly CellAddress[] => hints?.cells ?? log?.cells ?? []);
}

function isSameAddress(a: CellAddress, b: CellAddress): boolean {
  return a.ref_key === b.ref_key && a.row_key === b.row_key && a.column_name === b.column_name;
}

/** Returns what each sender is told of the change of a joint statement. */
export function sharesOf(change: SqlChange, parts: readonly Statement[]): readonly SqlChange[] {
  if (parts.length === 1) return [change];
  const cells = cellsOf(parts).length;
  const { rows, ...joint } = change;
  let [at, read] = [0, 0];
  return parts.map(({ log, readAfter }): SqlChange => {
    const share = { ...joint, ...(log && { among: { cells, at } }) };
    at += log?.cells?.length ?? 0;
    return readAfter && rows ? { ...share, rows: rows.slice(read, (read += readAfter.length)) } : share;
  });
}

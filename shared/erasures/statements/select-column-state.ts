import { rowKeyBytes, RANGE_MARK } from '../../address.ts';
import { toNumber } from '../../sql/cell-rows.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';
import { hiddenInColumn, type RetentionRules } from '../../sql/hidden-cells.ts';
import { entityTable } from '../../sql/names.ts';
import { HAS_BODY } from '../../sql/statements/select-bodies.ts';
import { unionOf } from '../../sql/union.ts';

export interface ColumnOfRow {
  readonly row_key: string;
  readonly column_name: string;
}

export interface ColumnFrom extends ColumnOfRow {
  /** The last ref key that was read. @default none */
  readonly after?: number | undefined;
}

/** A version that no erasure of versions reaches. */
interface VersionState {
  readonly ref_key: number;
  readonly isHidden: boolean;
  /** As many newer versions exist as are kept: all versions below it are hidden as well. */
  readonly isPutOut: boolean;
  readonly hasBody: boolean;
}

export interface ColumnState {
  /** The ref key up to which versions were erased; -1 if none was. */
  readonly erasedTo: number;
  /** The versions above that, by ref key, the lowest first. */
  readonly versions: VersionState[];
}

/**
 * Selects the lowest versions of columns of one shard that are not erased yet, and which of them are out of their
 * retention. Scans no erased version, however many there are. `limit`: of each column.
 */
export function selectColumnStates(
  at: { readonly datastore: string; readonly shard: number; readonly rules: RetentionRules },
  columns: readonly ColumnFrom[],
  limit: number,
): Statement {
  const entity = entityTable(at.datastore, at.shard);
  const byVersions = at.rules?.map(({ column, keepVersions }) => ({ column, ...(keepVersions && { keepVersions }) }));
  const parts = columns.map(({ row_key, column_name, after }, item): Statement => {
    const rowKey = rowKeyBytes(row_key);
    const column = Buffer.from(column_name);
    const read = { entity, rowKey, column: column_name, onlyLatest: false };
    const hidden = hiddenInColumn(at.rules, read);
    const putOut = hiddenInColumn(byVersions, read);
    const past = `SELECT COALESCE(MAX(past.ref_key), -1) FROM ${entity} AS past FORCE INDEX (cell) WHERE past.row_key = ? AND past.column_name = CONCAT(${RANGE_MARK}, ?)`;
    return {
      table: entity,
      sql:
        `(SELECT ${item}, (${past}), ref_key, ${hidden?.sql ?? '0'}, ${putOut?.sql ?? '0'}, ${HAS_BODY} FROM ${entity} FORCE INDEX (cell) ` +
        `WHERE row_key = ? AND column_name = ? AND ref_key > (${past})${after === undefined ? '' : ' AND ref_key > ?'} ORDER BY ref_key LIMIT ${limit})`,
      parameters: [
        rowKey,
        column,
        ...(hidden?.parameters ?? []),
        ...(putOut?.parameters ?? []),
        rowKey,
        column,
        rowKey,
        column,
        ...(after === undefined ? [] : [after]),
      ],
    };
  });
  return unionOf(parts);
}

/** Returns the states in the order of the columns. */
export function toColumnStates(rows: readonly SqlRow[], columns: number): readonly ColumnState[] {
  const states = Array.from({ length: columns }, (): { erasedTo: number; versions: VersionState[] } => ({
    erasedTo: -1,
    versions: [],
  }));
  for (const [item, erasedTo, ref_key, isHidden, isPutOut, hasBody] of rows) {
    const state = states[toNumber(item)];
    if (!state) throw new Error(`a row for column ${String(item)} of ${columns}`);
    state.erasedTo = toNumber(erasedTo);
    state.versions.push({
      ref_key: toNumber(ref_key),
      isHidden: toNumber(isHidden) === 1,
      isPutOut: toNumber(isPutOut) === 1,
      hasBody: toNumber(hasBody) === 1,
    });
  }
  // A union keeps no order.
  for (const { versions } of states) versions.sort((one, other) => one.ref_key - other.ref_key);
  return states;
}

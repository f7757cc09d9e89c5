import { CELL_MARK, RANGE_MARK, rowKeyBytes } from '../../address.ts';
import { LIMITS, type LatestCondition } from '../../cell.ts';
import type { EncodedCell } from '../encoded-cell.ts';
import type { SqlParameter, Statement } from '../client.ts';
import { entityTable } from '../names.ts';
import { appendAll, areRestored, type ShardFence } from './append-cells.ts';
import { NOTHING_ERASED } from './erasure-checks.ts';

/**
 * Appends the cells of a transaction in one statement, all or none, as `appendCells` numbers them. An existing cell is
 * error 1062 on the key `cell`. No row changes if the shard refuses the append, an erasure covers a cell, or a condition
 * is not met.
 *
 * Conditions are read under the shard's lock, since each subquery depends on the locked row. FOR UPDATE reads what is
 * committed; the statement's snapshot may be older than the lock. A condition that fails would use up numbers given
 * before (`numberedAppend`).
 *
 * @param cells of one row, no address twice
 */
export function appendTransaction(
  fence: ShardFence,
  cells: readonly EncodedCell[],
  conditions: readonly LatestCondition[],
): Statement {
  const { datastore, shard, epoch, anyWriter = false, checksErasures = false } = fence;
  const entity = entityTable(datastore, shard);
  const row = rowKeyBytes(cells[0]?.row_key ?? '');
  const isNumbered = !checksErasures && conditions.length === 0 && !areRestored(cells);
  const checks = checksErasures
    ? nothingErased(entity, row, cells)
    : { sql: `AND log.${NOTHING_ERASED}`, parameters: [] };
  const met = conditions.map(({ column_name, latest }) =>
    isLatest(entity, [row, Buffer.from(column_name), latest ?? NONE]),
  );
  const ifAll = [checks, ...met];
  const append = appendAll(fence, cells, ifAll.map(({ sql }) => sql).join(' '));
  return {
    ...append,
    parameters: [...append.parameters, ...ifAll.flatMap(({ parameters }) => parameters)],
    ...(!anyWriter && {
      mayShareCommit: true,
      mayBeThere: true,
      log: { datastore, shard, epoch, isWhole: true, ...(isNumbered && { cells }) },
    }),
  };
}

/** Is always 1. The server knows it only after it has read, and so locked, the shard's row. */
const FIRST = 'LEAST(log.first_id, 1)';
/** Stands for the ref key of a column without a cell. */
const NONE = -1;

type Part = Pick<Statement, 'sql' | 'parameters'>;

function isLatest(entity: string, parameters: readonly SqlParameter[]): Part {
  return {
    sql:
      `AND COALESCE((SELECT latest.ref_key FROM ${entity} AS latest FORCE INDEX (cell) WHERE latest.row_key = ? AND latest.column_name = ? ` +
      `AND latest.added_id >= ${FIRST} ORDER BY latest.ref_key DESC LIMIT 1 FOR UPDATE), ${NONE}) = ?`,
    parameters,
  };
}

function nothingErased(entity: string, row: Uint8Array, cells: readonly EncodedCell[]): Part {
  const covering = [
    `gone.column_name = ${RANGE_MARK} AND gone.ref_key = ${LIMITS.refKey}`,
    ...cells.flatMap(() => [
      `gone.column_name = CONCAT(${RANGE_MARK}, ?) AND gone.ref_key >= ?`,
      `gone.column_name = CONCAT(${CELL_MARK}, ?) AND gone.ref_key = ?`,
    ]),
  ];
  const addresses = cells.flatMap(({ column_name, ref_key }): SqlParameter[] => {
    const address = [Buffer.from(column_name), ref_key];
    return [...address, ...address];
  });
  return {
    sql:
      `AND (SELECT COUNT(*) FROM ${entity} AS gone FORCE INDEX (cell) WHERE gone.row_key = ? AND gone.added_id >= ${FIRST} ` +
      `AND (${covering.join(' OR ')}) FOR UPDATE) = 0`,
    parameters: [row, ...addresses],
  };
}

import { rowKeyBytes } from '../../address.ts';
import type { Statement } from '../client.ts';
import { CONTROL, entityTable } from '../names.ts';
import { sharing, writerFence, type EncodedCell, type ShardFence } from './append-cells.ts';

/**
 * Appends one cell to its shard's log: `append-cells` without the parts that only several cells need.
 *
 * The result's insert id is the cell's added id. No row changed: the cell exists; or the shard is closed, has moved,
 * has another epoch or a writer that is not known to have all its cells.
 */
export function appendCell(fence: ShardFence, cell: EncodedCell): Statement {
  const entity = entityTable(fence.datastore, fence.shard);
  const texts = fence.anyWriter === true ? anyWriterTexts : writerTexts;
  let sql = texts.get(entity);
  if (sql === undefined) texts.set(entity, (sql = textOf(entity, fence)));
  const [rowKey, columnName] = [rowKeyBytes(cell.row_key), Buffer.from(cell.column_name)];
  return {
    sql,
    table: entity,
    ...sharing(fence),
    parameters: [
      rowKey,
      columnName,
      cell.ref_key,
      cell.encoded,
      rowKey,
      columnName,
      cell.ref_key,
      fence.datastore,
      fence.shard,
      fence.epoch,
    ],
  };
}

/** By table: a text is made of a dozen pieces, and is the same for each cell of a shard. */
const [writerTexts, anyWriterTexts] = [new Map<string, string>(), new Map<string, string>()];

function textOf(entity: string, fence: ShardFence): string {
  return [
    `INSERT INTO ${entity} (added_id, row_key, column_name, ref_key, body, created_at)`,
    'SELECT LAST_INSERT_ID(COALESCE(last.added_id, log.first_id - 1) + 1), ?, ?, ?, ?,',
    "GREATEST(SYSDATE(6), COALESCE(last.created_at, '2000-01-01'))",
    `FROM ${CONTROL}.shard AS log`,
    `LEFT JOIN ${entity} AS last ON last.added_id =`,
    `(SELECT tip.added_id FROM ${entity} AS tip WHERE tip.added_id >= log.first_id ORDER BY tip.added_id DESC LIMIT 1 FOR UPDATE)`,
    `LEFT JOIN ${entity} AS old ON old.row_key = ? AND old.column_name = ? AND old.ref_key = ?`,
    `WHERE log.datastore = ? AND log.shard = ? AND log.epoch = ? AND log.state = 'open'${writerFence(fence)} AND old.added_id IS NULL FOR UPDATE`,
  ].join(' ');
}

import type { AppendedLog, Statement } from '../client.ts';
import { CONTROL, entityTable } from '../names.ts';

/** Finds where a log ends, for the next numbering, which is refused if another append passes the end first. */
export function renumber({ datastore, shard, epoch }: AppendedLog): Statement {
  const entity = entityTable(datastore, shard);
  const last = (column: string): string =>
    `(SELECT ${column} FROM ${entity} ORDER BY added_id DESC LIMIT 1 FOR UPDATE)`;
  return {
    table: entity,
    sql:
      `UPDATE ${CONTROL}.shard SET head = COALESCE(${last('added_id')}, first_id - 1), ` +
      `head_at = COALESCE(${last('created_at')}, '2000-01-01'), head_epoch = epoch ` +
      `WHERE datastore = ? AND shard = ? AND epoch = ?`,
    parameters: [datastore, shard, epoch],
  };
}

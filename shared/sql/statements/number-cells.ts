import type { AppendedLog, NumberedCells, SqlParameter, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

/** The shard takes appends that heed no erasures, and its row says where its log ends. */
export const IS_NUMBERED =
  "head_epoch = epoch AND state = 'open' AND heeds = 0 AND (writer_id IS NULL OR writer_id = @@server_id)";

/**
 * Numbers the cells of several appends: moves the heads of their shards on, and takes the time for them, which never
 * goes back within a shard. A statement for each datastore, with its shards by their key, so that no other is locked.
 *
 * @param logs of different shards
 */
export function numberCells(
  logs: readonly (AppendedLog & { readonly numbered: NumberedCells })[],
): readonly Statement[] {
  return [...Map.groupBy(logs, ({ datastore }) => datastore)].map(([datastore, ofDatastore]): Statement => {
    const parameters: SqlParameter[] = [];
    const several = ofDatastore.filter(({ numbered }) => numbered.count > 1);
    for (const { shard, numbered } of several) parameters.push(shard, numbered.count);
    const cells = several.length === 0 ? '1' : `CASE shard ${several.map(() => 'WHEN ? THEN ?').join(' ')} ELSE 1 END`;
    parameters.push(datastore);
    const which = [...Map.groupBy(ofDatastore, ({ epoch }) => epoch)].map(([epoch, ofEpoch]) => {
      parameters.push(epoch, ...ofEpoch.map(({ shard }) => shard));
      return `epoch = ? AND shard IN (${ofEpoch.map(() => '?').join(', ')})`;
    });
    return {
      sql:
        `UPDATE ${CONTROL}.shard FORCE INDEX (PRIMARY) SET head_at = GREATEST(SYSDATE(6), head_at), head = head + ${cells} ` +
        `WHERE datastore = ? AND (${which.join(' OR ')}) AND ${IS_NUMBERED}`,
      parameters,
    };
  });
}

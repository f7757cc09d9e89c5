import type { AppendedLog, SqlParameter, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { NOTHING_ERASED } from './erasure-checks.ts';

/** The shard takes appends without look-ups, and its row says where its log ends. */
export const IS_NUMBERED = `head_epoch = epoch AND state = 'open' AND ${NOTHING_ERASED} AND (writer_id IS NULL OR writer_id = @@server_id)`;

/**
 * Moves the heads of shards on for appends, and takes their times, which never go back. For an append that is not
 * numbered the row is locked, and its log's end forgotten. One statement a datastore, first in its transaction: it
 * locks these rows in key order, so that transactions wait for each other, but not in a circle. `logs`: of different
 * shards.
 */
export function numberCells(logs: readonly AppendedLog[]): readonly Statement[] {
  return byDatastore(logs).map(([datastore, ofDatastore]): Statement => {
    const parameters: SqlParameter[] = [];
    const several = ofDatastore.filter(({ cells = [] }) => cells.length > 1);
    for (const { shard, cells = [] } of several) parameters.push(shard, cells.length);
    const counts = several.length === 0 ? '1' : `CASE shard ${several.map(() => 'WHEN ? THEN ?').join(' ')} ELSE 1 END`;
    const others = ofDatastore.flatMap(({ shard, cells }) => (cells ? [] : [shard]));
    parameters.push(...others);
    const end = others.length === 0 ? '' : `, head_epoch = IF(shard IN (${marks(others)}), NULL, head_epoch)`;
    parameters.push(datastore);
    const which = [...Map.groupBy(ofDatastore, ({ epoch }) => epoch)].map(([epoch, ofEpoch]) => {
      parameters.push(epoch, ...ofEpoch.map(({ shard }) => shard));
      return `epoch = ? AND shard IN (${marks(ofEpoch)})`;
    });
    return {
      sql:
        `UPDATE ${CONTROL}.shard FORCE INDEX (PRIMARY) SET head_at = GREATEST(SYSDATE(6), head_at), head = head + ${counts}${end} ` +
        `WHERE datastore = ? AND (${which.join(' OR ')}) AND ${IS_NUMBERED}`,
      parameters,
    };
  });
}

/** In one order, so that transactions over several datastores do not wait in a circle either. */
function byDatastore(logs: readonly AppendedLog[]): readonly (readonly [string, readonly AppendedLog[]])[] {
  const groups = [...Map.groupBy(logs, ({ datastore }) => datastore)];
  return groups.sort(([one], [other]) => (one < other ? -1 : 1));
}

function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

/** Forgets where logs end after appends without numbers; locks the rows as `numberCells` does. */
export function forgetEnds(logs: readonly AppendedLog[]): readonly Statement[] {
  return byDatastore(logs).map(([datastore, ofDatastore]): Statement => {
    const shards = [...new Set(ofDatastore.map(({ shard }) => shard))];
    return {
      sql: `UPDATE ${CONTROL}.shard FORCE INDEX (PRIMARY) SET head_epoch = NULL WHERE datastore = ? AND shard IN (${marks(shards)})`,
      parameters: [datastore, ...shards],
    };
  });
}

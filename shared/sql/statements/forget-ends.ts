import type { AppendedLog, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

/**
 * Forgets where logs end, for appends without numbers: the next numbered one would be refused otherwise. One statement
 * a datastore; at the start of a transaction it locks the shards' rows in key order, as `numberCells` does.
 */
export function forgetEnds(logs: readonly AppendedLog[]): readonly Statement[] {
  return [...Map.groupBy(logs, ({ datastore }) => datastore)].map(([datastore, ofDatastore]): Statement => {
    const shards = [...new Set(ofDatastore.map(({ shard }) => shard))];
    return {
      sql: `UPDATE ${CONTROL}.shard FORCE INDEX (PRIMARY) SET head_epoch = NULL WHERE datastore = ? AND shard IN (${shards.map(() => '?').join(', ')})`,
      parameters: [datastore, ...shards],
    };
  });
}

import type { AppendedLog, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

/**
 * From here on it is not known where the logs of shards end: for who appends without numbers. Else the next who numbers
 * would be refused, with all that goes with it. A statement for each datastore.
 *
 * As the first of a transaction it locks the rows of all its shards in the order of their key, as `numberCells` does.
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

/** A drain that opens a new writer's shards though nothing was brought back: a control. */
import { forgetWriters, NOBODY, recordWriter } from '../../../shared/sql/statements/record-writer.ts';
import { selectFencedShards, toFencedShards } from '../../../shared/sql/statements/select-fenced-shards.ts';
import type { Wrap } from '../../support/store-access.ts';

/** Whoever asks which shards are closed is told that none is, and then none is. */
export const wrap: Wrap = (client) => {
  const fenced = selectFencedShards().sql;
  return {
    ...client,
    async select(statement, target) {
      const rows = await client.select(statement, target);
      if (statement.sql !== fenced) return rows;
      for (const { serverId, datastore, shard } of toFencedShards(rows)) {
        await client.change(forgetWriters(datastore, [shard]));
        await client.change(recordWriter({ serverId, instead: NOBODY, isStorageShared: false }, datastore, [shard]));
      }
      return [];
    },
  };
};

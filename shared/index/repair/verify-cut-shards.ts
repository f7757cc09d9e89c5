import { readState, updateState, type StateItem } from '../../dynamo/state-table.ts';
import { verifyIndex } from '../verify.ts';
import { mendEpoch } from '../../access/raise-epoch.ts';
import { readDatastore } from '../../topology/dynamo-topology.ts';
import type { RepairWork } from './repair-work.ts';
import { blockOf } from './shard-blocks.ts';

/** Before all is compared once more where a part could not be: as long as it took, and this at most. */
const MOST_REST_MS = 60_000;

/**
 * After a log was cut, entries of the lost cells lead to rows, or say of rows, what no cell says any more, and nothing
 * that is followed tells which. And the group whose logs were cut has lost its last index entries with its last cells:
 * entries of rows of every group. So the indexes are compared whole, with all rows of the datastore.
 *
 * Whoever finds a log cut raises its shard's epoch in the topology before anything else, and the item
 * `verified#trips#0` (of the first 4,096 shards) says which epochs were verified: no death in between lets one be
 * forgotten. A shard that moved has a higher epoch too, and is verified for nothing.
 *
 * @returns a look, to be repeated
 */
export function verifyCutShards(work: RepairWork): () => Promise<void> {
  const { context, datastore, settings, report } = work;
  const keyOf = (block: number): string => `verified#${datastore}#${block}`;
  const seen = new Map<string, number>();
  let restUntil = 0;

  return async () => {
    if (performance.now() < restUntil) return;
    const topology = await readDatastore(work.topologyTable, datastore);
    const raised = topology?.places.flatMap(({ epoch }, shard) => (epoch > 1 ? [{ shard, epoch }] : [])) ?? [];
    if (raised.length === 0) return;
    const blocks = [...new Set(raised.map(({ shard }) => blockOf(shard)))];
    const item: StateItem = Object.assign(
      {},
      ...(await Promise.all(blocks.map((block) => readState(work.stateTable, keyOf(block))))),
    );
    const due = raised.filter(({ shard, epoch }) => {
      if (Number(item[`epoch${shard}`]?.N ?? 1) >= epoch) return false;
      const since = seen.get(`${shard}/${epoch}`) ?? performance.now();
      seen.set(`${shard}/${epoch}`, since);
      return performance.now() - since >= settings.afterCutMs;
    });
    if (due.length === 0) return;
    context.topology.refresh();
    // Entries take their epoch from the shard's row: it must have the new one.
    for (const { shard, epoch } of due)
      await mendEpoch(
        { groups: context.groups, datastore, shard },
        { group: topology?.places[shard]?.group ?? '', epoch },
      );
    const shards = due.map(({ shard }) => shard);
    const failures: unknown[] = [];
    const begun = performance.now();
    for (const index of await work.indexes.maintained(datastore)) {
      const { found, mended, failed } = await verifyIndex(context, datastore, index, { repair: true });
      report({
        datastore,
        kind: 'verified',
        index: index.name,
        shards: shards.length,
        problems: found.missing + found.extra + found.wrong,
        mended,
      });
      failures.push(...failed.values());
    }
    if (failures.length > 0) {
      restUntil = performance.now() + Math.min(MOST_REST_MS, performance.now() - begun);
      throw failures[0];
    }
    for (const { shard, epoch } of due) {
      await updateState(work.stateTable, {
        key: keyOf(blockOf(shard)),
        update: `SET #epoch${shard} = :epoch`,
        values: { ':epoch': { N: String(epoch) } },
      });
      seen.delete(`${shard}/${epoch}`);
    }
  };
}

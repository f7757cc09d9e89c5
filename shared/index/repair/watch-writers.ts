import { readState, setState } from '../../dynamo/state-table.ts';
import { sideBySide } from '../../side-by-side.ts';
import { selectServer, toServer } from '../../sql/statements/select-server.ts';
import { raiseEpoch } from '../../access/raise-epoch.ts';
import { readDatastore } from '../../topology/dynamo-topology.ts';
import type { RepairWork } from './repair-work.ts';

/**
 * Notices a new writer of a group. It may lack the last cells, and followers cannot tell: they are seconds behind, or
 * read the promoted server. Entries of lost cells would win over the cells that take their added ids, so the shards'
 * epochs are raised, and their rows verified. Groups with shared storage lose nothing. Returns a poll, to be repeated
 * by one run at a time.
 */
export function watchWriters(work: RepairWork): () => Promise<void> {
  const { context, datastore, stateTable, topologyTable } = work;

  const kept = new Map<string, string>();

  async function poll(group: string): Promise<void> {
    const client = await context.groups.client(group);
    const server = toServer(await client.select(selectServer(), 'writer'));
    // It is starting or stopping.
    if (!server.writable) return;
    if (kept.get(group) === server.id) return;
    const key = `writer#${datastore}#${group}`;
    const known = (await readState(stateTable, key))?.['server']?.S;
    if (known !== undefined && known !== server.id) {
      const topology = await readDatastore(topologyTable, datastore);
      const shards =
        topology?.homes.flatMap((home, shard) => (home.group === group ? [{ shard, epoch: home.epoch }] : [])) ?? [];
      await sideBySide(
        shards,
        async ({ shard, epoch }) =>
          void (await raiseEpoch({ table: topologyTable, groups: context.groups, datastore, shard }, epoch)),
      );
      context.topology.refresh();
      work.report({ datastore, kind: 'writer_changed', group, shards: shards.length });
    }
    if (known !== server.id) await setState(stateTable, key, { server: { S: server.id } });
    kept.set(group, server.id);
  }

  return async () => {
    const groups = await context.topology.groups();
    // An unreachable group keeps its writer.
    const polls = groups.filter(({ sharedStorage }) => !sharedStorage).map(({ name }) => poll(name));
    const failed = (await Promise.allSettled(polls)).find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  };
}

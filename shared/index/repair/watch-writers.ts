import { readState, updateState } from '../../dynamo/state-table.ts';
import { sideBySide } from '../../side-by-side.ts';
import { selectServer, toServer } from '../../sql/statements/select-server.ts';
import { raiseEpoch } from '../../access/raise-epoch.ts';
import { readDatastore } from '../../topology/dynamo-topology.ts';
import type { RepairWork } from './repair-work.ts';

/**
 * Notices that another server has become a group's writer. It may lack the last cells, and those who follow the logs
 * cannot tell: they are some seconds behind, or read the very server that was promoted. Entries of lost cells would win
 * over those of the cells that take their added ids. So the epochs of the group's shards are raised, and with that
 * their rows verified.
 *
 * Not where the nodes of a group share their storage: there a promotion loses nothing.
 *
 * @returns a look, to be repeated, by one run alone at a time
 */
export function watchWriters(work: RepairWork): () => Promise<void> {
  const { context, datastore, stateTable, topologyTable } = work;

  /** The writers as this run left them in the table, which nobody else writes meanwhile. */
  const kept = new Map<string, string>();

  async function look(group: string): Promise<void> {
    const client = await context.groups.client(group);
    const server = toServer(await client.select(selectServer(), 'writer'));
    // On its way up or down: the next look will tell.
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
    if (known !== server.id)
      await updateState(stateTable, { key, update: 'SET #server = :server', values: { ':server': { S: server.id } } });
    kept.set(group, server.id);
  }

  return async () => {
    const groups = await context.topology.groups();
    // A group that does not answer now keeps its writer until it does.
    const looks = groups.filter(({ sharedStorage }) => !sharedStorage).map(({ name }) => look(name));
    const failed = (await Promise.allSettled(looks)).find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  };
}

import type { LOG_READS } from '../../../shared/api/logs.ts';
import { parseLocation } from '../../../shared/address.ts';
import type { Location } from '../../../shared/cell.ts';
import type { ShardLog } from '../../../shared/contract/datastore.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import { shownItems } from '../answer.ts';
import type { Answers } from '../answering.ts';

/** Shards and their logs. */
export const LOGS: Answers<typeof LOG_READS, Deployment> = {
  async readShardLog({ datastore, shard, after, since, ...options }, { packed }, deployment) {
    const store = await deployment.datastore(datastore);
    // The datastore checks it again as one of a batch, but errors here name `after`, not `locations[0].after`.
    const location = parseLocation({ shard, after, since } as Location, store.shards);
    const [log] = await store.log([location], { ...options, packed });
    if (log === undefined) throw new Error('The datastore answered no log where one was asked for');
    if (log.error !== undefined) throw log.error;
    const { cells, next, more, served_by, stale } = log;
    return { status: 200, body: { cells: shownItems(cells), next, more, served_by, stale }, packed };
  },
  async digestLog({ datastore, read, ...range }, _request, deployment) {
    return { status: 200, body: await (await deployment.datastore(datastore)).digest(range, { read }) };
  },
  async readLog({ datastore, locations, ...options }, { packed }, deployment) {
    // The datastore knows its shards, and checks each location under the request's names.
    const logs = await (await deployment.datastore(datastore)).log(locations, { ...options, packed });
    return { status: 200, body: { logs: shownItems(logs.map(shownLog)) }, packed };
  },
  async listShards({ datastore, read }, _request, deployment) {
    return { status: 200, body: { shards: shownItems(await (await deployment.datastore(datastore)).heads({ read })) } };
  },
};

function shownLog(log: ShardLog): object {
  return 'cells' in log ? { ...log, cells: shownItems(log.cells) } : log;
}

import { LIMITS, type Location } from '../../../shared/cell.ts';
import type { ShardLog } from '../../../shared/contract/datastore.ts';
import { parseLimit, parseLocation } from '../../../shared/address.ts';
import { readItems, readMembers } from '../members.ts';
import { readLimit, readRole, readSealed, pathShard } from '../request.ts';
import { shownItems } from '../answer.ts';
import type { HttpOperation } from './operation.ts';

/** GET /shards/{shard}/cells: the log of one shard, after an added id or from a time on. */
export const readShardLog: HttpOperation = async (request, deployment) => {
  const shard = pathShard(request);
  const query = request.query({ once: ['after', 'since', 'limit', 'read', 'sealed'] });
  const { packed } = request;
  const options = { limit: readLimit(query), read: readRole(query), packed, sealed: readSealed(query) };
  const after = query.integer('after', 0, Number.MAX_SAFE_INTEGER);
  const datastore = await deployment.datastore(request.path('datastore'));
  // The datastore checks it again, as one of a batch: whoever sends a path is told of `after`, not of
  // `locations[0].after`.
  const location = parseLocation({ shard, after, since: query.text('since') } as Location, datastore.shards);
  const [log] = await datastore.log([location], options);
  if (log === undefined) throw new Error('The datastore answered no log where one was asked for');
  if (log.error !== undefined) throw log.error;
  const { cells, next, more, served_by, stale } = log;
  return { status: 200, body: { cells: shownItems(cells), next, more, served_by, stale }, packed };
};

/** POST /log `{locations: […], limit}`: the logs of many shards; the limit is per shard. */
export const readLog: HttpOperation = async (request, deployment) => {
  const query = request.query({ once: ['read', 'sealed'] });
  const [read, sealed] = [readRole(query), readSealed(query)];
  const { locations, limit } = readMembers(request.json(), ['locations', 'limit']);
  const perShard = parseLimit(limit);
  const { packed } = request;
  const items = readItems(locations, 'locations', LIMITS.logCells, ['shard', 'after', 'since'], (members) => members);
  const datastore = await deployment.datastore(request.path('datastore'));
  // As they came: the datastore, which knows its shards, checks each, and names it as the request does.
  const logs = await datastore.log(items as readonly Location[], { limit: perShard, read, packed, sealed });
  return { status: 200, body: { logs: shownItems(logs.map(shownLog)) }, packed };
};

function shownLog(log: ShardLog): object {
  return 'cells' in log ? { ...log, cells: shownItems(log.cells) } : log;
}

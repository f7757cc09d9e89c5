import type { Datastore, ShardHead } from '../contract/datastore.ts';
import { toItems, toShardLogs } from './answers.ts';
import { answerTo, type Connection } from './calls.ts';

/** Returns the query parameter `sealed`, which is `true` or omitted. */
export function sealedIn(sealed: boolean | undefined): { readonly sealed?: 'true' } {
  return sealed === true ? { sealed: 'true' } : {};
}

export function logCalls(send: Connection): Pick<Datastore, 'log' | 'heads' | 'digest'> {
  return {
    async log(locations, { read, sealed, limit } = {}) {
      const query = { read, ...sealedIn(sealed) };
      const { json } = await send({ method: 'POST', path: ['log'], query, body: { locations, limit } });
      return toShardLogs(json['logs']);
    },
    async heads({ read } = {}) {
      const { json } = await send({ method: 'GET', path: ['shards'], query: { read } });
      return toItems<ShardHead>(json['shards']);
    },
    async digest({ shard, ...range }, { read } = {}) {
      return answerTo(send, { method: 'GET', path: ['shards', shard, 'digest'], query: { read, ...range } });
    },
  };
}

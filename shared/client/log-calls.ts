import type { Datastore, ShardHead } from '../contract/datastore.ts';
import { toItems, toShardLogs } from './answers.ts';
import { answerTo, type Connection } from './calls.ts';

/** The query parameter `sealed`, which says `true` or is left out. */
export function sealedIn(sealed: boolean | undefined): { readonly sealed?: 'true' } {
  return sealed === true ? { sealed: 'true' } : {};
}

export function logCalls(send: Connection): Pick<Datastore, 'log' | 'heads' | 'digest'> {
  return {
    async log(locations, options = {}) {
      const { json } = await send({
        method: 'POST',
        path: ['log'],
        query: { read: options.read, ...sealedIn(options.sealed) },
        body: { locations, limit: options.limit },
      });
      return toShardLogs(json['logs']);
    },
    async heads(options = {}) {
      return toItems<ShardHead>(
        (await send({ method: 'GET', path: ['shards'], query: { read: options.read } })).json['shards'],
      );
    },
    async digest({ shard, ...range }, { read } = {}) {
      return answerTo(send, { method: 'GET', path: ['shards', shard, 'digest'], query: { read, ...range } });
    },
  };
}

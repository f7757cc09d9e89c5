import type { PutResult } from '../cell.ts';
import type { ReadOptions } from '../contract/datastore.ts';
import { shardOf } from '../address.ts';

type Seen = Pick<ReadOptions, 'read' | 'min_added_id'>;

/** The writes of a client, for its reads: the highest added id in each shard that it wrote to. */
export interface OwnWrites {
  note(result: PutResult): void;
  /**
   * Returns options that make a read of a row show own writes. One call at a time asks for the number of shards; others
   * read from the writer until then, so no call waits for another's bounds.
   */
  seen<Options extends Seen>(rowKey: string, options: Options, countShards: () => Promise<number>): Promise<Options>;
}

export function ownWrites(): OwnWrites {
  const highest = new Map<number, number>();
  let shards: number | undefined;
  let isAsked = false;
  return {
    note(result) {
      if (!('added_id' in result) || result.added_id === undefined) return;
      const { shard, added_id } = result;
      if (added_id > (highest.get(shard) ?? 0)) highest.set(shard, added_id);
    },
    async seen(rowKey, options, countShards) {
      if (options.read !== 'reader' || highest.size === 0) return options;
      if (shards === undefined && !isAsked) {
        isAsked = true;
        shards = await countShards().catch(() => undefined);
        isAsked = false;
      }
      if (shards === undefined) return { ...options, read: 'writer' as const };
      const least = Math.max(options.min_added_id ?? 0, highest.get(shardOf(rowKey, shards)) ?? 0);
      return least === 0 ? options : { ...options, min_added_id: least };
    },
  };
}

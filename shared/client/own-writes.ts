import type { PutResult } from '../cell.ts';
import type { ReadOptions } from '../contract/datastore.ts';
import { shardOf } from '../shard.ts';

type Seen = Pick<ReadOptions, 'read' | 'min_added_id'>;

/** What a client wrote, as far as its reads need it: one number for each shard that it wrote to. */
export interface OwnWrites {
  note(result: PutResult): void;
  /** Of a row, how it has to be read so that what was written shows. */
  seen<Options extends Seen>(rowKey: string, options: Options): Promise<Options>;
}

/** @param countShards of the datastore; asked once, when a reader is first asked for a row */
export function ownWrites(countShards: () => Promise<number>): OwnWrites {
  /** The highest added id of each shard. */
  const highest = new Map<number, number>();
  let counted: Promise<number> | undefined;
  return {
    note(result) {
      if (!('added_id' in result) || result.added_id === undefined) return;
      const { shard, added_id } = result;
      if (added_id > (highest.get(shard) ?? 0)) highest.set(shard, added_id);
    },
    async seen(rowKey, options) {
      if (options.read !== 'reader' || highest.size === 0) return options;
      counted ??= countShards();
      const shards = await counted.catch(() => undefined);
      if (shards === undefined) {
        counted = undefined;
        return { ...options, read: 'writer' as const };
      }
      const least = Math.max(options.min_added_id ?? 0, highest.get(shardOf(rowKey, shards)) ?? 0);
      return least === 0 ? options : { ...options, min_added_id: least };
    },
  };
}

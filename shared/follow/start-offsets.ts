import { SchemalessError } from '../errors.ts';
import type { SqlClient } from '../sql/client.ts';
import { findLocations, toAfterIds } from '../sql/statements/find-locations.ts';
import { selectHeads, toHeads } from '../sql/statements/select-heads.ts';
import { selectLogEntries, toShardLogEntries, type LogRange } from '../sql/statements/select-log-entries.ts';
import type { StoreContext } from '../access/context.ts';
import { parseTime } from '../time.ts';
import { askParts, partsOf } from '../access/ask-parts.ts';
import { type ShardOffset, UNKNOWN_FINGERPRINT } from './offsets.ts';
import type { StartLocation } from './follower.ts';
import { offsetAt } from './read-log-entries.ts';

interface Starts {
  readonly found: ReadonlyMap<number, ShardOffset>;
  readonly refused: ReadonlyMap<number, unknown>;
}

/**
 * Finds where a start lies in each shard of one group, by its writer's log, with the fingerprints of the cells there.
 * If a log is cut before its first read, another cell may have taken that place, and would be skipped. Throws
 * SchemalessError `unavailable`, and `invalid_field` for a time that cannot be read.
 */
export async function findStarts(
  context: StoreContext,
  group: string,
  datastore: string,
  shards: readonly number[],
  start: StartLocation,
): Promise<Starts> {
  if (start === 'start') return { found: new Map(shards.map((shard) => [shard, unread(0)])), refused: new Map() };
  const client = await context.groups.client(group);
  const since = start === 'now' ? '' : parseTime(start.since, 'since');
  const statement =
    start === 'now'
      ? selectHeads(datastore, shards)
      : findLocations(
          datastore,
          shards.map((shard) => ({ shard, since })),
        );
  const { rows, refused } = await askParts(client, group, 'writer', partsOf(statement));
  const [heads, afters] = start === 'now' ? [toHeads(rows), []] : [new Map<number, number>(), toAfterIds(rows)];
  const unknown = new Map(
    shards.flatMap((shard, item) =>
      refused.get(item)?.isAnswered === false ? [[shard, refused.get(item)?.error] as const] : [],
    ),
  );
  const ranges = shards.flatMap((shard, item) =>
    unknown.has(shard) ? [] : [{ shard, at: heads.get(shard) ?? afters[item] ?? 0 }],
  );
  return readStarts(client, group, datastore, { ranges, refused: unknown });
}

async function readStarts(
  client: SqlClient,
  group: string,
  datastore: string,
  { ranges, refused }: { readonly ranges: readonly LogRange[]; readonly refused: Map<number, unknown> },
): Promise<Starts> {
  const found = new Map(ranges.flatMap(({ shard, at }) => (at === 0 ? [[shard, unread(0)] as const] : [])));
  const begun = ranges.filter(({ at }) => at > 0);
  if (begun.length === 0) return { found, refused };
  const answer = await askParts(client, group, 'writer', partsOf(selectLogEntries(datastore, begun, { limit: 0 })));
  for (const [
    item,
    {
      entries: [entry],
      epoch = 0,
    },
  ] of toShardLogEntries(answer.rows, begun.length).entries()) {
    const { shard, at } = begun[item] as LogRange;
    if (entry?.added_id === at) found.set(shard, offsetAt(entry, epoch));
    else
      refused.set(
        shard,
        answer.refused.get(item)?.error ??
          new SchemalessError(
            'unavailable',
            `the log of shard ${shard} of ${datastore} was cut at ${at} while its start was looked for`,
          ),
      );
  }
  return { found, refused };
}

export function unread(addedId: number): ShardOffset {
  return { added_id: addedId, fingerprint: addedId === 0 ? '' : UNKNOWN_FINGERPRINT, epoch: 0 };
}

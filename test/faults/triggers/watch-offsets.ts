import { setTimeout as sleep } from 'node:timers/promises';
import { committedOffsets } from '../../../shared/follow/follower-lag.ts';
import { triggerFollower } from '../../../shared/triggers/state/follower-name.ts';
import { dynamoClient } from '../../support/dynamo.ts';
import type { TriggeredAccess } from '../../support/triggers/triggered-access.ts';

/** What the offsets of a trigger did while they were looked at. */
export interface OffsetHistory {
  readonly looks: number;
  /** How often a shard's offset was lower than before. */
  readonly back: number;
}

/** Far more often than a worker commits: what goes back is seen before the next commit covers it. */
const EVERY_MS = 40;

/** Looks at the committed offsets again and again, until it is stopped. */
export function watchOffsets(
  { dynamo, stateTable, trigger, datastore }: TriggeredAccess,
  shards: number,
): { stop(): Promise<OffsetHistory> } {
  const client = dynamoClient(dynamo);
  const end = new AbortController();
  const highest = Array.from({ length: shards }, () => 0);
  const seen = { looks: 0, back: 0 };
  const watching = (async () => {
    while (!end.signal.aborted) {
      // On a machine that has too much to do an answer may not come in time.
      const offsets = await committedOffsets(
        { client, table: stateTable },
        { name: triggerFollower(trigger), datastore },
        shards,
      ).catch(() => []);
      if (offsets.length > 0) seen.looks += 1;
      for (const [shard, offset = 0] of offsets.entries()) {
        if (offset < (highest[shard] ?? 0)) seen.back += 1;
        highest[shard] = offset;
      }
      await sleep(EVERY_MS, undefined, { signal: end.signal }).catch(() => undefined);
    }
  })();
  return {
    async stop() {
      end.abort();
      await watching;
      client.destroy();
      return seen;
    },
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import type { Share } from '../fault-run.ts';
import { TRIGGER } from './marked-cells.ts';

/** How far a trigger was sent at a moment. */
export interface OffsetSample {
  /** Of the last rewind until then. */
  readonly rewound_at: string | null;
  /** By shard. */
  readonly offsets: ReadonlyMap<number, number>;
}

const POLL_MS = 500;

/** Looks at the offsets of the trigger again and again, until the signal. */
export async function watchOffsets(client: SchemalessClient, signal: AbortSignal): Promise<readonly OffsetSample[]> {
  const samples: OffsetSample[] = [];
  while (!signal.aborted) {
    // What is away for a moment is looked at the next time.
    const seen = await client.trigger(TRIGGER).catch(() => undefined);
    if (seen) {
      const offsets = seen.shards.map(({ shard, offset }) => [shard, offset ?? 0] as const);
      samples.push({ rewound_at: seen.rewound_at, offsets: new Map(offsets) });
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  return samples;
}

/**
 * Offsets that went back from one look to the next though nobody had set the trigger back: each rewind sets each shard
 * back once, at any time after it is noted.
 *
 * @param rewinds as if there was none: what is rewound counts as going back, too
 */
export function wentBack(samples: readonly OffsetSample[], rewinds: 'known' | 'not known' = 'known'): Share {
  let [wrong, of] = [0, 0];
  /** The last rewind by which each shard was set back. */
  const setBackBy = new Map<number, string | null | undefined>();
  for (const [position, { rewound_at, offsets }] of samples.entries()) {
    const before = samples[position - 1];
    // It may have been noted, and done, between the two halves of a look.
    const notedBy = [rewound_at, samples[position + 1]?.rewound_at ?? rewound_at];
    for (const [shard, offset] of offsets) {
      if (!before) setBackBy.set(shard, rewound_at);
      if (!before) continue;
      of += 1;
      if (offset >= (before.offsets.get(shard) ?? 0)) continue;
      const by = notedBy.find((at) => at !== setBackBy.get(shard));
      if (rewinds === 'not known' || by === undefined) wrong += 1;
      else setBackBy.set(shard, by);
    }
  }
  return { wrong, of };
}

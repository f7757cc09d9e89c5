import { setTimeout as sleep } from 'node:timers/promises';
import type { TriggerOperations } from '../../../shared/api/triggers.ts';
import type { Share } from '../fault-run.ts';
import { TRIGGER } from './clinic.ts';

export interface OffsetSample {
  readonly asked: number;
  readonly answered: number;
  readonly offsets: ReadonlyMap<number, number>;
}

export interface Rewind {
  readonly asked: number;
  readonly answered: number;
  readonly to: ReadonlyMap<number, number>;
}

const POLL_MS = 500;
/** After the answer, in which a rewind may be seen in offsets: one that failed may go on for a while. */
const SEEN_WITHIN_MS = 5000;

export async function watchOffsets(
  operations: Pick<TriggerOperations, 'getTrigger'>,
  signal: AbortSignal,
): Promise<readonly OffsetSample[]> {
  const samples: OffsetSample[] = [];
  while (!signal.aborted) {
    const asked = performance.now();
    // What is away for a moment is looked at the next time.
    const seen = await operations.getTrigger({ trigger: TRIGGER }).catch(() => undefined);
    if (seen) {
      const offsets = seen.shards.map(({ shard, offset }) => [shard, offset ?? 0] as const);
      samples.push({ asked, answered: performance.now(), offsets: new Map(offsets) });
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  return samples;
}

/**
 * Offsets that went back from one look to the next though no rewind had set them there: each sets each shard back once,
 * no further than where it was sent, from when it is asked for until shortly after its answer.
 */
export function wentBack(samples: readonly OffsetSample[], rewinds: readonly Rewind[]): Share {
  let [wrong, of] = [0, 0];
  const setBack = new Map(rewinds.map((rewind) => [rewind, new Set<number>()]));
  for (const [position, { answered, offsets }] of samples.entries()) {
    const before = samples[position - 1];
    if (!before) continue;
    const between = [...setBack].filter(
      ([rewind]) => rewind.asked <= answered && rewind.answered + SEEN_WITHIN_MS >= before.asked,
    );
    for (const [shard, offset] of offsets) {
      of += 1;
      if (offset >= (before.offsets.get(shard) ?? 0)) continue;
      const by = between.find(([{ to }, shards]) => !shards.has(shard) && offset >= (to.get(shard) ?? 0));
      if (by) by[1].add(shard);
      else wrong += 1;
    }
  }
  return { wrong, of };
}

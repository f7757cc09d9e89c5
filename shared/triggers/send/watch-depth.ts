import { pauseFor } from '../../pause-for.ts';
import type { TailWork } from './tail-work.ts';

/** A queue that was found empty, by `performance.now()`. */
export interface EmptyQueue {
  /** When the first of the looks began that all found it so. */
  readonly since: number;
  /** When the last one began. */
  readonly at: number;
}

export interface DepthWatch {
  /** By what was last seen, and what this worker has sent since. */
  isFull(): boolean;
  /** Undefined where the last look did not find it empty, or failed. */
  empty(): EmptyQueue | undefined;
  /** Counts messages that this worker sent. */
  add(messages: number): void;
  run(signal: AbortSignal): Promise<void>;
}

/** Looks how much a trigger's queue holds. While SQS is away, what was last seen holds. */
export function watchDepth({
  queues,
  deployed,
  settings,
  report,
}: Pick<TailWork, 'queues' | 'deployed' | 'settings' | 'report'>): DepthWatch {
  let depth = 0;
  let sinceLook = 0;
  let failing = false;
  let empty: EmptyQueue | undefined;

  async function look(): Promise<void> {
    const before = sinceLook;
    const at = performance.now();
    depth = await queues.depth(deployed.queueUrl);
    // What was sent while the answer was under way may be in it or not.
    sinceLook -= before;
    empty = depth === 0 ? { since: empty?.since ?? at, at } : undefined;
  }

  return {
    isFull: () => depth + sinceLook >= settings.depthLimit,
    empty: () => empty,
    add: (messages) => void (sinceLook += messages),
    async run(signal) {
      while (!signal.aborted) {
        try {
          await look();
          failing = false;
        } catch (error) {
          empty = undefined;
          if (!failing) report({ kind: 'failed', what: 'looking at its queue', error });
          failing = true;
        }
        await pauseFor(settings.depthEveryMs, signal);
      }
    },
  };
}

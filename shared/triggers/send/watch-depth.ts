import type { TailWork } from './tail-work.ts';

/** A queue that was found empty, by `performance.now()`. */
export interface EmptyQueue {
  /** When the first of consecutive polls began that all found it empty. */
  readonly since: number;
  /** When the last of them began. */
  readonly at: number;
}

export type DepthWatch = ReturnType<typeof watchDepth>;

/** Watches how much a trigger's queue holds. While SQS is unavailable the last answer holds. */
export function watchDepth({ queues, deployed, settings }: Pick<TailWork, 'queues' | 'deployed' | 'settings'>) {
  let depth = 0;
  let sinceLook = 0;
  let empty: EmptyQueue | undefined;
  return {
    /** By the last poll, and what this worker has sent since. */
    isFull: (): boolean => depth + sinceLook >= settings.depthLimit,
    /** Undefined if the last poll did not find it empty, or failed. */
    empty: (): EmptyQueue | undefined => empty,
    /** Counts messages that this worker sent. */
    add: (messages: number): void => void (sinceLook += messages),
    async look(): Promise<void> {
      const sent = sinceLook;
      const at = performance.now();
      try {
        depth = await queues.depth(deployed.queueUrl);
      } catch (error) {
        empty = undefined;
        throw error;
      }
      // The answer may or may not include messages that were sent while it was under way.
      sinceLook -= sent;
      empty = depth === 0 ? { since: empty?.since ?? at, at } : undefined;
    },
  };
}

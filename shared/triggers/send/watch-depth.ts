import type { TailWork } from './tail-work.ts';

/** What a poll found in a queue. */
interface FoundDepth {
  readonly messages: number;
  /** When the poll began, by `Date.now()`. */
  readonly at: number;
}

export type DepthWatch = ReturnType<typeof watchDepth>;

/** Watches how much a trigger's queue holds. While SQS is unavailable the last answer holds. */
export function watchDepth({ queues, deployed, settings }: Pick<TailWork, 'queues' | 'deployed' | 'settings'>) {
  let depth = 0;
  let sinceLook = 0;
  let found: FoundDepth | undefined;
  return {
    /** By the last poll, and what this worker has sent since. */
    isFull: (): boolean => depth + sinceLook >= settings.depthLimit,
    /** Undefined before the first poll, and if the last one failed. */
    found: (): FoundDepth | undefined => found,
    /** Counts messages that this worker sent. */
    add: (messages: number): void => void (sinceLook += messages),
    async look(): Promise<void> {
      const sent = sinceLook;
      const at = Date.now();
      found = undefined;
      depth = await queues.depth(deployed.queueUrl);
      // The answer may or may not include messages that were sent while it was under way.
      sinceLook -= sent;
      found = { messages: depth, at };
    },
  };
}

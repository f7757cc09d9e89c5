import type { ProcessPause } from './process-pause.ts';

/** How long a process that was paused waits for an answer that may be here, unread. */
export const GRACE_MS = 500;

export interface TimeLimit {
  begin(onLate: (wasPaused: boolean) => void): void;
  end(): boolean;
}

/** Reuses one timer: a new one for each statement, as mysql2 makes, takes longer than all else here. */
export function timeLimit(milliseconds: number, processPause: ProcessPause): TimeLimit {
  let onLate: ((wasPaused: boolean) => void) | undefined;
  let begun = 0;
  let grace: NodeJS.Timeout | undefined;
  const fire = (wasPaused: boolean): void => {
    const tell = onLate;
    onLate = undefined;
    tell?.(wasPaused);
  };
  // The timer continues after a statement's end; the next statement resets it.
  const timer = setTimeout(() => {
    if (!onLate) return;
    if (processPause.since(begun)) grace = setTimeout(fire, GRACE_MS, true);
    else fire(false);
  }, milliseconds).unref();
  return {
    begin(tell) {
      onLate = tell;
      begun = performance.now();
      timer.refresh();
    },
    end() {
      const inTime = onLate !== undefined;
      onLate = undefined;
      if (grace) grace = void clearTimeout(grace);
      return inTime;
    },
  };
}

import type { Standstill } from './standstill.ts';

/** What a process that stood still gives the answer to a statement that is overdue: it may be here already, unread. */
export const GRACE_MS = 500;

/** How long a statement may take on a connection, which runs one at a time. */
export interface TimeLimit {
  begin(onLate: (stoodStill: boolean) => void): void;
  /** Returns whether it was in time. */
  end(): boolean;
}

/**
 * The time limit of a connection's statements. To make and clear a timer for each, as mysql2 does, takes longer than
 * all else here.
 */
export function timeLimit(milliseconds: number, standstill: Standstill): TimeLimit {
  let onLate: ((stoodStill: boolean) => void) | undefined;
  let begun = 0;
  let grace: NodeJS.Timeout | undefined;
  const fire = (stoodStill: boolean): void => {
    const tell = onLate;
    onLate = undefined;
    tell?.(stoodStill);
  };
  // It goes on beyond the end of a statement; the next sets it anew, whether it has fired meanwhile or not.
  const timer = setTimeout(() => {
    if (!onLate) return;
    if (standstill.since(begun)) grace = setTimeout(fire, GRACE_MS, true);
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

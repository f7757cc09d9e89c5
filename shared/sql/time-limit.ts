import type { Standstill } from './standstill.ts';

/** How long a process that stood still waits for an answer that may be here, unread. */
export const GRACE_MS = 500;

export interface TimeLimit {
  begin(onLate: (stoodStill: boolean) => void): void;
  end(): boolean;
}

/** Reuses one timer: a new one for each statement, as mysql2 makes, takes longer than all else here. */
export function timeLimit(milliseconds: number, standstill: Standstill): TimeLimit {
  let onLate: ((stoodStill: boolean) => void) | undefined;
  let begun = 0;
  let grace: NodeJS.Timeout | undefined;
  const fire = (stoodStill: boolean): void => {
    const tell = onLate;
    onLate = undefined;
    tell?.(stoodStill);
  };
  // It runs on after a statement's end; the next sets it anew.
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

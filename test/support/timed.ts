/**
 * For tests that say how soon something is there: each is tried up to three times. A machine with much else to do stands
 * still for a moment now and then; what waits for what it should not wait for does so every time.
 */
export const TIMED = { retry: 2 } as const;

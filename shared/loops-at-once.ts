/** Runs of one scheduled function that overlap: a run ends after its successor has taken over. */
export const LOOPS_AT_ONCE = 2;

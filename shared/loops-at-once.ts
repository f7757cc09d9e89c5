/** Overlapping runs of one scheduled function: a run ends after its successor has begun to work. */
export const LOOPS_AT_ONCE = 2;

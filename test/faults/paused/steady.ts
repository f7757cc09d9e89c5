import type { Mix } from '../load/cell-source.ts';

/** Puts of new cells, and one repeat in ten: of an earlier cell, or of one that is under way. */
const MIX: Mix = { batchShare: 0, batchSize: 1, repeatShare: 0.1 };
/** Some ask again at once, others when the server goes on; most of what is buffered is the drain's alone. */
const AGAIN = { leastMs: 200, mostMs: 8000, wholeMs: 90_000, ofBuffered: 0.15 };

/** A load of writers that keep their pace, whatever their answers take. */
export const STEADY = { cells: MIX, again: AGAIN };
/** Modules are compiled and connections opened in the first of its seconds. */
export const WARM_UP_MS = 3000;

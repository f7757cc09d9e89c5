const SHORTEST_MS = 1000;
/** Of the time that looking takes: so that what is work for the databases is looked at more seldom. */
const SHARE = 20;

/**
 * For who looks again and again whether something has come: gives the pause after each look, in milliseconds, by how long
 * it took. A second at least, and so long that looking takes a twentieth of the time, by the shorter of two looks in a
 * row.
 *
 * One that took long by itself says nothing of what a look costs: the first of an instance opens its connections, and a
 * machine stands still for a moment. Twenty times that would leave what comes meanwhile lying, with nobody to hear of it.
 */
export function lookPauses(): (tookMs: number) => number {
  let before = 0;
  return (tookMs) => {
    const usual = Math.min(before, tookMs);
    before = tookMs;
    return Math.max(SHORTEST_MS, SHARE * usual);
  };
}

const SHORTEST_MS = 1000;
/** Pause per time of a look, so that looks take a twentieth of the time. */
const SHARE = 20;

/** Gives the pause after each look by the shorter of the last two: one long look says little. */
export function lookPauses(): (tookMs: number) => number {
  let before = 0;
  return (tookMs) => {
    const usual = Math.min(before, tookMs);
    before = tookMs;
    return Math.max(SHORTEST_MS, SHARE * usual);
  };
}

/** Does something once. Returns its count of units: cells, rows, calls. */
export type Work = () => Promise<number>;

export interface Sides {
  readonly ours: Work;
  readonly theirs: Work;
  /** A further side that ours is compared with. */
  readonly bare?: Work;
  /** Concurrent calls of either side. @default 1 */
  readonly atOnce?: number;
  /** How long each side works before the first round: until its code is compiled. @default 500 */
  readonly warmMs?: number;
  /** The same for ours, if other processes must compile it as well. @default warmMs */
  readonly ourWarmMs?: number;
  /** How long a side works in each round, in turns, without calls under way as a turn ends. @default 180 */
  readonly roundMs?: number;
  /**
   * Waits, as part of a turn, for the work that a side leaves to others, to charge it to that side. Readers of MySQL
   * were 6 s behind after 12 s of plain inserts, which slowed the next side.
   */
  readonly settled?: () => Promise<void>;
  /** The bar of the ratio: while the result is in doubt, more rounds are taken. */
  readonly bar?: number | undefined;
}

/** The speed of one side relative to the other, over several rounds in turn. */
interface Ratio {
  /** The median of the rounds' ratios. */
  readonly ratio: number;
  readonly rounds: number;
  /** Half of the rounds' ratios are between these. */
  readonly least: number;
  readonly most: number;
  /** Units a second, medians. */
  readonly ours: number;
  readonly theirs: number;
  /** The ratio of ours to `bare`. */
  readonly toBare?: number;
}

const [FEWEST_ROUNDS, MOST_ROUNDS] = [9, 45];
const ROUND_MS = 180;
/**
 * The length of a turn. A machine's speed varies, and short turns expose both sides to that alike. One call at a time,
 * the ratio of the same two sides had a standard deviation of 0.038 with turns of 180 ms, and of 0.017 with these.
 */
const TURN_MS = 30;
/**
 * The least calls in a turn: it ends with the last of its concurrent calls, which lengthens a short turn most. With
 * eight calls of each, which are 120 ms of 32 appends, the deviation was 0.02, with three times as many 0.028.
 */
const CALLS_A_TURN = 8;

/**
 * Runs the sides on the same servers, in turn and in the opposite order every other time, so that other load affects
 * all alike. Work before the first round does not count.
 *
 * A ratio with a bar is measured until it clearly reaches that, up to five times as long. The same two sides came out
 * at 0.87 to 0.97 in fifteen rounds.
 */
export async function sideBySide(
  { ours, theirs, bare, atOnce = 1, warmMs = 500, ourWarmMs = warmMs, roundMs = ROUND_MS, settled, bar }: Sides,
  signal: AbortSignal,
): Promise<Ratio> {
  const sides = [ours, theirs, ...(bare ? [bare] : [])];
  const warm = [];
  const turn = (work: Work, milliseconds: number): Promise<Spell> =>
    spell(work, { atOnce, milliseconds, settled, signal });
  for (const work of sides) warm.push(await turn(work, work === ours ? ourWarmMs : warmMs));
  const callMs = Math.max(...warm.map(({ ms, calls }) => (atOnce * ms) / calls));
  const turns = Math.max(1, Math.floor(roundMs / (atOnce === 1 ? TURN_MS : Math.max(TURN_MS, CALLS_A_TURN * callMs))));

  const [ourRates, theirRates, ratios, toBare]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let round = 0; round < FEWEST_ROUNDS || (round < MOST_ROUNDS && isInDoubt(ratios, bar)); round += 1) {
    const sums = sides.map((work) => ({ work, ms: 0, units: 0 }));
    for (let taken = 0; taken < turns; taken += 1) {
      for (const sum of (round + taken) % 2 === 0 ? sums : sums.toReversed()) {
        // A call may take longer than all turns of a round.
        if (sum.ms >= roundMs) continue;
        const { ms, units } = await turn(sum.work, roundMs / turns);
        sum.ms += ms;
        sum.units += units;
      }
    }
    const [ourRate = Number.NaN, theirRate = Number.NaN, bareRate = Number.NaN] = sums.map(
      ({ ms, units }) => (units / ms) * 1000,
    );
    ourRates.push(ourRate);
    theirRates.push(theirRate);
    ratios.push(ourRate / theirRate);
    toBare.push(ourRate / bareRate);
  }
  return {
    ratio: median(ratios),
    rounds: ratios.length,
    least: quantile(ratios, 0.25),
    most: quantile(ratios, 0.75),
    ours: median(ourRates),
    theirs: median(theirRates),
    ...(bare && { toBare: median(toBare) }),
  };
}

/**
 * Returns whether rounds leave open that their true median reaches a bar. If it were exactly the bar, each round would
 * fall below with a chance of one half. No more than `n / 2 - sqrt(n)` of them, two standard deviations off, would do
 * so once in twenty-five times at most. (W. J. Dixon, A. M. Mood, "The Statistical Sign Test", 1946.)
 */
export function isInDoubt(ratios: readonly number[], bar: number | undefined): boolean {
  if (bar === undefined) return false;
  const below = ratios.filter((ratio) => !(ratio >= bar)).length;
  return below > ratios.length / 2 - Math.sqrt(ratios.length);
}

/** Lets each side work for this long, so that shared code is compiled before the measurement. */
export async function warmUp(
  works: readonly Work[],
  { atOnce, milliseconds }: { readonly atOnce: number; readonly milliseconds: number },
  signal: AbortSignal,
): Promise<void> {
  for (const work of works) await spell(work, { atOnce, milliseconds, settled: undefined, signal });
}

/** The units done in a while, and its length: until the last call begun in it has ended, and all is settled. */
interface Spell {
  readonly ms: number;
  readonly calls: number;
  readonly units: number;
}

interface Turn {
  readonly atOnce: number;
  readonly milliseconds: number;
  readonly settled: Sides['settled'];
  readonly signal: AbortSignal;
}

async function spell(work: Work, { atOnce, milliseconds, settled, signal }: Turn): Promise<Spell> {
  const start = performance.now();
  let calls = 0;
  let units = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() - start < milliseconds) {
      signal.throwIfAborted();
      // Not `units += await`, which would lose units that others added during the wait.
      const done = await work();
      calls += 1;
      units += done;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
  await settled?.();
  return { ms: performance.now() - start, calls, units };
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Returns the value below which a share of the values lies, between two of them if necessary. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const position = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(position)] ?? Number.NaN, sorted[Math.ceil(position)] ?? Number.NaN];
  return low + (high - low) * (position - Math.floor(position));
}

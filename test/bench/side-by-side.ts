/** Something done once. Returns how many units that was: cells, rows, calls. */
export type Work = () => Promise<number>;

export interface Sides {
  readonly ours: Work;
  readonly theirs: Work;
  /** What ours is held against besides. */
  readonly bare?: Work;
  /** Calls under way at a time, of either. @default 1 */
  readonly atOnce?: number;
  /** How long each side works before the first round: until its code is compiled. @default 500 */
  readonly warmMs?: number;
  /** The same for ours, where it has to be compiled in other processes, too. @default warmMs */
  readonly ourWarmMs?: number;
  /** How long a side works in each round, in turns, but for what is under way as a turn ends. @default 180 */
  readonly roundMs?: number;
  /**
   * What a turn has to wait for before it is over, and the next begins: what a side leaves to others to do is to be
   * charged to it. Where readers of MySQL were 6 s behind after 12 s of plain inserts, whoever came next paid for that.
   */
  readonly settled?: () => Promise<void>;
  /** What the ratio has to reach: while that is in doubt, more rounds are taken. */
  readonly bar?: number | undefined;
}

/** How fast one side was next to the other, over several rounds in turn. */
export interface Ratio {
  /** The median of the rounds' ratios. */
  readonly ratio: number;
  readonly rounds: number;
  /** Between them lies half of the rounds' ratios. */
  readonly least: number;
  readonly most: number;
  /** Units a second, medians. */
  readonly ours: number;
  readonly theirs: number;
  /** Ours next to `bare`, in the same way. */
  readonly toBare?: number;
}

const [FEWEST_ROUNDS, MOST_ROUNDS] = [9, 45];
const ROUND_MS = 180;
/**
 * A machine's speed changes from one moment to the next, and falls on both sides of a short turn alike: the ratio of
 * the same two sides, one call at a time, had a standard deviation of 0.038 with turns of 180 ms, and of 0.017 with
 * these.
 */
const TURN_MS = 30;
/**
 * Where many are under way, a turn ends with the last of them, and is as much longer as that is little of it: with
 * eight calls of each, which are 120 ms of 32 appends, the deviation was 0.02, with three times as many 0.028.
 */
const CALLS_A_TURN = 8;

/**
 * Lets the sides work on the same servers, each in its turn and in the opposite order every other time, so that what
 * else the machine does falls on all alike. What happens before the first round counts for none.
 *
 * Where the ratio has a bar to reach, it is measured until it clearly does, up to five times as long: the same two
 * sides came out at 0.87 to 0.97 in fifteen rounds.
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
 * Whether rounds leave open that their true median reaches a bar. If it lay just there, each round would fall below as
 * a coin falls, and no more than `n / 2 - sqrt(n)` of them, two standard deviations off, once in twenty-five times at
 * most. (W. J. Dixon, A. M. Mood, "The Statistical Sign Test", 1946.)
 */
export function isInDoubt(ratios: readonly number[], bar: number | undefined): boolean {
  if (bar === undefined) return false;
  const below = ratios.filter((ratio) => !(ratio >= bar)).length;
  return below > ratios.length / 2 - Math.sqrt(ratios.length);
}

/** Lets each work for so long, so that what they share is compiled before anything is measured. */
export async function warmUp(
  works: readonly Work[],
  { atOnce, milliseconds }: { readonly atOnce: number; readonly milliseconds: number },
  signal: AbortSignal,
): Promise<void> {
  for (const work of works) await spell(work, { atOnce, milliseconds, settled: undefined, signal });
}

/** What was done in a while, and how long that was: until the last call that began in it had ended, and all was settled. */
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
      // Not `units += await`, which would forget what others added meanwhile.
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

/** The value below which a share of the values lies, between two of them where it has to be. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const position = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(position)] ?? Number.NaN, sorted[Math.ceil(position)] ?? Number.NaN];
  return low + (high - low) * (position - Math.floor(position));
}

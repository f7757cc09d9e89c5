/** Something done once. Returns how many units that was: cells, rows, calls. */
export type Work = () => Promise<number>;

export interface Sides {
  readonly ours: Work;
  readonly theirs: Work;
  /** What ours is held against besides. @default nothing */
  readonly bare?: Work;
  /** Calls under way at a time, of either. @default 1 */
  readonly atOnce?: number;
  /** How long each side works before the first round: until its code is compiled. @default 500 */
  readonly warmMs?: number;
  /** The same for ours, where it has to be compiled in other processes, too. @default warmMs */
  readonly ourWarmMs?: number;
  /** How long a side works in each round: many times what one call takes, since a round ends with the last of those under way. @default 180 */
  readonly roundMs?: number;
}

/** How fast one side was next to the other, over several rounds in turn. */
export interface Ratio {
  /** The median of the rounds' ratios. */
  readonly ratio: number;
  /** Between them lies half of the rounds' ratios. */
  readonly least: number;
  readonly most: number;
  /** Units a second, medians. */
  readonly ours: number;
  readonly theirs: number;
  /** Ours next to `bare`, in the same way. */
  readonly toBare?: number;
}

/** Many short ones: a machine's speed changes from one second to the next, and falls on both sides of a short round alike. */
const ROUNDS = 15;
const ROUND_MS = 180;

/**
 * Lets the sides work in turn on the same servers, in every other round in the opposite order, so that what else the
 * machine does falls on all alike. What happens before the first round counts for none.
 */
export async function sideBySide({ ours, theirs, bare, atOnce = 1, warmMs = 500, ourWarmMs = warmMs, roundMs = ROUND_MS }: Sides, signal: AbortSignal): Promise<Ratio> {
  const sides = [ours, theirs, ...(bare ? [bare] : [])].map((work) => ({ work, rates: [] as number[] }));
  for (const { work } of sides) await rateOf(work, atOnce, work === ours ? ourWarmMs : warmMs, signal);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { work, rates } of round % 2 === 0 ? sides : sides.toReversed()) rates.push(await rateOf(work, atOnce, roundMs, signal));
  }
  const [ourRates = [], theirRates = [], bareRates] = sides.map(({ rates }) => rates);
  const ratiosTo = (others: readonly number[]): number[] => ourRates.map((rate, round) => rate / (others[round] ?? Number.NaN));
  const ratios = ratiosTo(theirRates);
  return {
    ratio: median(ratios),
    least: quantile(ratios, 0.25),
    most: quantile(ratios, 0.75),
    ours: median(ourRates),
    theirs: median(theirRates),
    ...(bareRates && { toBare: median(ratiosTo(bareRates)) }),
  };
}

/** Lets each work for so long, so that what they share is compiled before anything is measured. */
export async function warmUp(works: readonly Work[], { atOnce, milliseconds }: { readonly atOnce: number; readonly milliseconds: number }, signal: AbortSignal): Promise<void> {
  for (const work of works) await rateOf(work, atOnce, milliseconds, signal);
}

/** Units a second. */
async function rateOf(work: Work, atOnce: number, milliseconds: number, signal: AbortSignal): Promise<number> {
  const start = performance.now();
  let units = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() - start < milliseconds) {
      signal.throwIfAborted();
      // Not `units += await`, which would forget what others added meanwhile.
      const done = await work();
      units += done;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
  return units / ((performance.now() - start) / 1000);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which a share of the values lies, between two of them where it has to be. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const place = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(place)] ?? Number.NaN, sorted[Math.ceil(place)] ?? Number.NaN];
  return low + (high - low) * (place - Math.floor(place));
}

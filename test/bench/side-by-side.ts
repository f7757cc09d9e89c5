/** Something done once. Returns how many units that was: cells, rows, calls. */
export type Work = () => Promise<number>;

export interface Sides {
  readonly ours: Work;
  readonly theirs: Work;
  /** What ours is held against besides. @default nothing */
  readonly bare?: Work;
  /** Calls under way at a time, of either. @default 1 */
  readonly atOnce?: number;
}

/** How fast one side was next to the other, over several rounds in turn. */
export interface Ratio {
  /** Of the medians. */
  readonly ratio: number;
  /** Of the rounds, the lowest and the highest. */
  readonly least: number;
  readonly most: number;
  /** Units a second. */
  readonly ours: number;
  readonly theirs: number;
  /** Ours next to `bare`, of the medians. */
  readonly toBare?: number;
}

const ROUNDS = 9;
const ROUND_MS = 500;
const WARM_MS = 400;

/**
 * Lets the sides work in turn on the same servers, in every other round in the opposite order, so that what else the
 * machine does falls on all alike. What happens before the first round counts for none.
 */
export async function sideBySide({ ours, theirs, bare, atOnce = 1 }: Sides, signal: AbortSignal): Promise<Ratio> {
  const sides = [ours, theirs, ...(bare ? [bare] : [])].map((work) => ({ work, rates: [] as number[] }));
  for (const { work } of sides) await rateOf(work, atOnce, WARM_MS, signal);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { work, rates } of round % 2 === 0 ? sides : sides.toReversed()) rates.push(await rateOf(work, atOnce, ROUND_MS, signal));
  }
  const [ourRates = [], theirRates = [], bareRates] = sides.map(({ rates }) => rates);
  const ratios = ourRates.map((rate, round) => rate / (theirRates[round] ?? Number.NaN));
  const [oursRate, theirsRate] = [median(ourRates), median(theirRates)];
  return { ratio: oursRate / theirsRate, least: Math.min(...ratios), most: Math.max(...ratios), ours: oursRate, theirs: theirsRate, ...(bareRates && { toBare: oursRate / median(bareRates) }) };
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
  const sorted = [...values].sort((one, other) => one - other);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

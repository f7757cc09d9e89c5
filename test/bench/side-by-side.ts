/** Something done once. Returns how many units that was: cells, rows, calls. */
export type Work = () => Promise<number>;

export interface Sides {
  readonly ours: Work;
  readonly theirs: Work;
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
}

const ROUNDS = 7;
const ROUND_MS = 700;
const WARM_MS = 400;

/**
 * Lets both sides work in turn on the same servers, each first in every other round, so that what else the machine does
 * falls on both alike. What happens before the first round counts for neither.
 */
export async function sideBySide({ ours, theirs, atOnce = 1 }: Sides, signal: AbortSignal): Promise<Ratio> {
  for (const work of [ours, theirs]) await rateOf(work, atOnce, WARM_MS, signal);
  const rounds: { readonly ours: number; readonly theirs: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const first = await rateOf(round % 2 === 0 ? ours : theirs, atOnce, ROUND_MS, signal);
    const second = await rateOf(round % 2 === 0 ? theirs : ours, atOnce, ROUND_MS, signal);
    rounds.push(round % 2 === 0 ? { ours: first, theirs: second } : { ours: second, theirs: first });
  }
  const ratios = rounds.map((round) => round.ours / round.theirs);
  const [oursRate, theirsRate] = [median(rounds.map((round) => round.ours)), median(rounds.map((round) => round.theirs))];
  return { ratio: oursRate / theirsRate, least: Math.min(...ratios), most: Math.max(...ratios), ours: oursRate, theirs: theirsRate };
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

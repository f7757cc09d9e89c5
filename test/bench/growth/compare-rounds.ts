import { median } from '../side-by-side.ts';
import type { Quantiles } from './rounds.ts';

/** What a store took next to another one in the same rounds. */
export interface Growth {
  /** Of the medians. */
  readonly ratio: number;
  /** Of the rounds, the lowest and the highest. */
  readonly least: number;
  readonly most: number;
  /** Medians, in milliseconds. */
  readonly base: number;
  readonly grown: number;
}

export function growthOf(base: readonly Quantiles[], grown: readonly Quantiles[], quantile: keyof Quantiles): Growth {
  const ratios = grown.map((round, position) => round[quantile] / (base[position]?.[quantile] ?? Number.NaN));
  const [before, after] = [medianOf(base, quantile), medianOf(grown, quantile)];
  return { ratio: after / before, least: Math.min(...ratios), most: Math.max(...ratios), base: before, grown: after };
}

export function medianOf(rounds: readonly Quantiles[], quantile: keyof Quantiles): number {
  return median(rounds.map((round) => round[quantile]));
}

/** "p99 1.08 (0.92 to 1.31; 3.91, 4.22 ms)" */
export function growthFigure(quantile: keyof Quantiles, { ratio, least, most, base, grown }: Growth): string {
  return `${quantile} ${ratio.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)}; ${base.toFixed(2)}, ${grown.toFixed(2)} ms)`;
}

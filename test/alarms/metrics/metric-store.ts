import type { MetricStat } from '../alarm.ts';

interface Sample {
  readonly at: number;
  readonly value: number;
}

export class MetricStore {
  readonly #samples = new Map<string, Sample[]>();

  add({ namespace, name, dimensions }: Omit<MetricStat, 'statistic'>, at: number, ...values: readonly number[]): void {
    const key = keyOf({ namespace, name, dimensions });
    const known = this.#samples.get(key) ?? [];
    this.#samples.set(key, known);
    for (const value of values) known.push({ at, value });
  }

  statistic(metric: MetricStat, from: number, to: number): number | undefined {
    const values = (this.#samples.get(keyOf(metric)) ?? [])
      .filter(({ at }) => at >= from && at < to)
      .map(({ value }) => value);
    return values.length === 0 ? undefined : statisticOf(metric.statistic, values);
  }
}

function keyOf({ namespace, name, dimensions }: Omit<MetricStat, 'statistic'>): string {
  return JSON.stringify([namespace, name, Object.entries(dimensions).sort()]);
}

function statisticOf(statistic: string, values: readonly number[]): number {
  if (statistic === 'Sum') return values.reduce((sum, value) => sum + value, 0);
  if (statistic === 'Maximum') return Math.max(...values);
  const [, percent] = /^p(\d{1,2}(?:\.\d+)?)$/u.exec(statistic) ?? [];
  if (percent === undefined) throw new Error(`statistic: wanted Sum, Maximum or a percentile, got ${statistic}`);
  const ascending = values.toSorted((one, other) => one - other);
  return ascending[Math.max(0, Math.ceil((Number(percent) / 100) * ascending.length) - 1)] ?? Number.NaN;
}

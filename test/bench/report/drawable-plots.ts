import type { Findings, Plot } from '../bench.ts';

/**
 * The findings without what no axis has a place for: what is not finite. A row that fails names it, as what is missing
 * in a plot is not missed by whoever looks at it.
 *
 * @param engine for that row
 */
export function drawable({ measured, plots }: Findings, engine: string): Findings {
  if (plots === undefined) return { measured };
  const refused: string[] = [];
  const fits = (numbers: readonly (number | undefined)[], name: string): boolean => {
    const finite = numbers.every((number) => number === undefined || Number.isFinite(number));
    if (!finite) refused.push(name);
    return finite;
  };
  const kept = plots.map((plot): Plot =>
    plot.kind === 'bars'
      ? {
          ...plot,
          bars: plot.bars.filter((one) =>
            fits([one.value, one.least, one.most, one.bar], `${plot.title}: ${one.label}`),
          ),
        }
      : {
          ...plot,
          lines: plot.lines.map(({ name, points }) => ({
            name,
            points: points.filter((point) => fits(point, `${plot.title}: ${name} at ${point[0]}`)),
          })),
        },
  );
  const row = {
    what: 'plots',
    figure: `no place on the axis for ${refused.join(', ')}`,
    bar: 'finite numbers',
    passed: false,
    engine,
  };
  return { measured: refused.length === 0 ? measured : [...measured, row], plots: kept };
}

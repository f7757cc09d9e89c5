import type { Measured, Plot } from '../bench.ts';

export interface DrawablePlots {
  readonly plots: readonly Plot[];
  /** What was left out, each as "TITLE: LABEL". */
  readonly refused: readonly string[];
}

/** The plots without what no axis has a place for: what is not finite. */
export function drawablePlots(plots: readonly Plot[]): DrawablePlots {
  const refused: string[] = [];
  const kept = (fits: boolean, title: string, label: string): boolean => {
    if (!fits) refused.push(`${title}: ${label}`);
    return fits;
  };
  const drawable = plots.map((plot): Plot => {
    if (plot.kind === 'bars') return { ...plot, bars: plot.bars.filter(({ label, value, least = 0, most = 0, bar = 0 }) => kept([value, least, most, bar].every(Number.isFinite), plot.title, label)) };
    return { ...plot, lines: plot.lines.map(({ name, points }) => ({ name, points: points.filter((point) => kept(point.every(Number.isFinite), plot.title, `${name} at ${point[0]}`)) })) };
  });
  return { plots: drawable, refused };
}

/** A row that fails when something could not be drawn: what is missing in a plot is not missed by whoever looks at it. */
export function refusedRow(refused: readonly string[], engine: string): readonly Measured[] {
  if (refused.length === 0) return [];
  return [{ what: 'plots', figure: `no place on the axis for ${refused.join(', ')}`, bar: 'finite numbers', passed: false, engine }];
}

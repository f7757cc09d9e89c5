import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import type { BarPlot, LinePlot, Plot } from '../bench.ts';

/** Pixels between the axes; an `<svg>` is as large as all that is drawn needs. */
const [WIDTH, HEIGHT, ROW] = [540, 200, 40];
/** More points than this on a line would hide it. */
const MOST_DOTS = 40;
/** So few places on a logarithmic axis are its ticks themselves. */
const MOST_OWN_TICKS = 7;
const [SPREAD, ALLOWED] = ['least to most seen', 'bar: the least or the most allowed'];
// Colours are properties of the page's style, so that a plot follows its light and its dark.
const SIGNS = {
  measured: 'var(--plain)',
  passed: 'var(--passed)',
  failed: 'var(--failed)',
  [SPREAD]: 'var(--text)',
  [ALLOWED]: 'var(--wanted)',
};
const DASHES = [
  [1, 0],
  [6, 3],
  [2, 3],
  [10, 3],
  [8, 3, 2, 3],
  [3, 3],
];
const LABELS = { labelColor: 'var(--muted)', labelFontSize: 11, titleColor: 'var(--text)', titleFontSize: 12 };
const CONFIG: NonNullable<TopLevelSpec['config']> = {
  background: 'none',
  font: 'system-ui, sans-serif',
  view: { stroke: null },
  text: { color: 'var(--text)', fontSize: 12 },
  axis: {
    ...LABELS,
    titleFontWeight: 'normal',
    gridColor: 'var(--edge)',
    domainColor: 'var(--edge)',
    tickColor: 'var(--edge)',
  },
  legend: { ...LABELS, title: null, orient: 'bottom', labelLimit: 0, columns: 2 },
};
const DIGITS = { minimumSignificantDigits: 3, maximumSignificantDigits: 3 };
const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', ...DIGITS });

/** Draws a plot as an `<svg>`: its values, and axes with their units, without its title. */
export async function svgOf(plot: Plot): Promise<string> {
  const { spec } = compile(plot.kind === 'bars' ? barSpec(plot) : lineSpec(plot), { config: CONFIG });
  return await new View(parse(spec), { renderer: 'none' }).toSVG();
}

/** Horizontal bars, each below its label, with its value to the right. */
function barSpec({ unit, bars }: BarPlot): TopLevelSpec {
  const values = bars.map(({ label, value, least, most, bar, passed }, position) => {
    const spread = least !== undefined || most !== undefined;
    const is = passed === undefined ? 'measured' : passed ? 'passed' : 'failed';
    const signs = [is, ...(spread ? [SPREAD] : []), ...(bar === undefined ? [] : [ALLOWED])];
    const shown = `${passed === false ? '✗ ' : ''}${SHORT.format(value)}`;
    return {
      place: position,
      label,
      value,
      is,
      signs,
      shown,
      bar,
      ...(spread && { least: least ?? value, most: most ?? value }),
    };
  });
  const used = Object.entries(SIGNS).filter(([sign]) => values.some(({ signs }) => signs.includes(sign)));
  const scale = { domain: used.map(([sign]) => sign), range: used.map(([, colour]) => colour) };
  const x = { type: 'quantitative', title: unit, axis: { format: '~s' } } as const;
  const below = { yOffset: 7, invalid: 'filter' } as const;
  const failed = { condition: { test: "datum.is === 'failed'", value: 'var(--failed)' }, value: 'var(--text)' };
  return {
    width: WIDTH,
    height: { step: ROW },
    data: { values },
    encoding: { y: { field: 'place', type: 'ordinal', axis: null } },
    layer: [
      { mark: { type: 'text', align: 'left', x: 0, yOffset: -9 }, encoding: { text: { field: 'label' } } },
      {
        mark: { type: 'bar', size: 12, opacity: 0.55, ...below },
        encoding: {
          x: { ...x, field: 'value' },
          color: { field: 'is', type: 'nominal', scale },
          description: { field: 'label' },
        },
      },
      {
        mark: { type: 'rule', strokeWidth: 1.5, ...below },
        encoding: { x: { ...x, field: 'least' }, x2: { field: 'most' }, color: { datum: SPREAD } },
      },
      {
        mark: { type: 'tick', thickness: 3, size: 20, ...below },
        encoding: { x: { ...x, field: 'bar' }, color: { datum: ALLOWED } },
      },
      {
        mark: { type: 'text', align: 'left', x: WIDTH + 8, fontWeight: 600, ...below },
        encoding: { text: { field: 'shown' }, color: failed },
      },
    ],
  };
}

/** One line for each name, with a dot for each point where there are few. */
function lineSpec({ x, y, logX, logY, lines }: LinePlot): TopLevelSpec {
  const positions = [...new Set(lines.flatMap(({ points }) => points.map(([at]) => at)))].sort(
    (one, other) => one - other,
  );
  // What is not above 0, such as a lag of something that came early, has no place of its own on a logarithmic axis.
  const first = positions.find((at) => at > 0) ?? 1;
  const early = positions.some((at) => at <= 0) ? '; 0 and less at its start' : '';
  const values = lines.flatMap(({ name, points }) =>
    points.map(([at, value]) => ({
      name,
      at: logX ? Math.max(at, first) : at,
      value,
      dot: points.length <= MOST_DOTS,
    })),
  );
  const ticks = logX && positions.length <= MOST_OWN_TICKS ? { values: positions.filter((at) => at > 0) } : {};
  const name = { field: 'name', type: 'nominal' } as const;
  const domain = lines.map((line) => line.name);
  return {
    width: WIDTH,
    height: HEIGHT,
    data: { values },
    encoding: {
      x: {
        field: 'at',
        type: 'quantitative',
        title: logX ? `${x} (logarithmic${early})` : x,
        axis: { format: '~s', ...ticks },
        scale: logX ? { type: 'log', nice: false } : { zero: true },
      },
      y: {
        field: 'value',
        type: 'quantitative',
        title: logY ? `${y} (logarithmic)` : y,
        axis: { format: '~s', tickCount: 5 },
        ...(logY && { scale: { type: 'log' } }),
      },
      color: {
        ...name,
        scale: { domain, range: DASHES.map((_, position) => `var(--line-${position})`) },
        legend: { symbolType: 'stroke', symbolSize: 500 },
      },
    },
    layer: [
      {
        mark: { type: 'line', strokeWidth: 2 },
        encoding: { strokeDash: { ...name, scale: { domain, range: DASHES } } },
      },
      { mark: { type: 'point', filled: true, size: 40, opacity: 1 }, transform: [{ filter: 'datum.dot' }] },
    ],
  };
}

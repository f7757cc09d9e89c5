import { expect, it } from 'vitest';
import type { BarPlot, LinePlot, Plot } from '../bench.ts';
import type { Section } from './findings.ts';
import { FINDINGS_FILE, readFindings } from './findings-file.ts';
import { html } from './markup.ts';
import { page } from './page.ts';
import { svgOf } from './plots.ts';

const KEPT = readFindings(FINDINGS_FILE);
const PAGE = await page(KEPT);

it('has every row that is kept, with its figure, its bar and its verdict', () => {
  expect(KEPT.flatMap(({ measured }) => measured).length).toBeGreaterThan(100);
  for (const { name, run, what, measured, plots = [] } of KEPT) {
    const said = [name, what, run.started_at, run.cpu.model, `Node ${run.node}`, `--seed ${run.seed}`];
    for (const text of said) expect(PAGE).toContain(html`${text}`.markup);
    for (const { what, figure, bar, passed } of measured) {
      const verdict = passed ? html`<td class="passed">PASS</td>` : html`<td class="failed">FAIL</td>`;
      expect(PAGE).toContain(html`<th scope="row">${what}</th><td>${figure}</td><td>${bar}</td>${verdict}`.markup);
    }
    for (const { title } of plots) expect(PAGE).toContain(html`<figcaption>${title}</figcaption>`.markup);
  }
  expect(PAGE.match(/<svg /g)).toHaveLength(KEPT.flatMap(({ plots = [] }) => plots).length);
});

it('refers to nothing outside of itself, and runs nothing', () => {
  expect(PAGE.replaceAll(/ xmlns(:xlink)?="[^"]*"/g, '')).not.toMatch(/https?:|\bsrc\s*=|<link|@import|url\(|<script/i);
  const targets = [...PAGE.matchAll(/href="([^"]*)"/g)].map((found) => found[1]);
  expect(targets).toEqual(KEPT.map(({ name }) => `#bench-${name}`));
});

it('escapes every text, in elements and in attributes', async () => {
  const filledWith = (text: string): Section => {
    const bars: BarPlot = { kind: 'bars', title: text, unit: text, bars: [{ label: text, value: 1 }] };
    const lines: LinePlot = { kind: 'lines', title: text, x: text, y: text, lines: [{ name: text, points: [[1, 1]] }] };
    const run = {
      engine: text,
      seed: text,
      node: text,
      cpu: { model: text, count: 2 },
      started_at: '2026-01-31T08:00:00.000Z',
    };
    const row = { what: text, figure: text, bar: text, passed: true, engine: text };
    return { name: text, what: text, seconds: 1, measured: [row], plots: [bars, lines], run };
  };
  const [plain, hostile] = [await page([filledWith('plain')]), await page([filledWith(`</svg><i>&"'`)])];
  expect(hostile).not.toContain('<i>');
  // As many tags as with texts that need no escaping, and as many attributes in each.
  const tags = (text: string): readonly number[] => (text.match(/<[^>]*>/g) ?? []).map((tag) => tag.split('"').length);
  expect(tags(hostile)).toEqual(tags(plain));
});

/** The texts of a plot that can be read in it. */
async function textsOf(plot: Plot): Promise<readonly string[]> {
  return [...(await svgOf(plot)).matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text = '']) => text);
}

it('shows bars by label and value, what was seen and what is allowed, in a unit', async () => {
  const texts = await textsOf({
    kind: 'bars',
    title: 'Speed',
    unit: 'times the rate',
    bars: [
      { label: 'a put', value: 0.91, least: 0.85, most: 1.02, bar: 0.85, passed: true },
      { label: 'a batch', value: 4200, bar: 5000, passed: false },
      { label: 'a batch', value: 1 },
    ],
  });
  expect(texts).toEqual(expect.arrayContaining(['a put', '0.910', 'a batch', '✗ 4.20K', '1.00', 'times the rate']));
  const key = ['measured', 'passed', 'failed', 'least to most seen', 'bar: the least or the most allowed'];
  expect(texts.slice(-key.length)).toEqual(key);
});

it('shows lines by name, with both axes and few dots', async () => {
  const p50 = {
    name: 'p50',
    points: [
      [10_000, 1],
      [100_000, 2],
      [1_000_000, 2],
    ] as const,
  };
  const plot: LinePlot = { kind: 'lines', title: 'Latency', x: 'cells', y: 'ms', logX: true, lines: [p50] };
  expect(await textsOf(plot)).toEqual(
    expect.arrayContaining(['cells (logarithmic)', 'ms', 'p50', '10k', '100k', '1M']),
  );
  const early = {
    ...plot,
    lines: [
      {
        name: 'p50',
        points: [
          [-1, 1],
          [0, 2],
          [5, 3],
        ] as const,
      },
    ],
  };
  expect(await textsOf(early)).toContain('cells (logarithmic; 0 and less at its start)');
  expect(await textsOf({ ...plot, logY: true })).toContain('ms (logarithmic)');
  const long = { name: 'many', points: Array.from({ length: 100 }, (_, at) => [at, at] as const) };
  const svg = await svgOf({ ...plot, lines: [p50, long] });
  expect(svg.match(/aria-roledescription="point"/g)).toHaveLength(3);
});

import { expect, it } from 'vitest';
import type { Plot } from '../bench.ts';
import type { BenchReport, Section } from './findings.ts';
import { page } from './page.ts';
import { carriedBy } from './page-data.ts';
import { SAMPLE_BARS, SAMPLE_LINES, sampleBench, sampleRun } from './sample-findings.ts';

const MYSQL = 'MySQL 8.0.40';

/** A section of a run on MySQL. */
function section(bench: BenchReport): Section {
  const { engine, seed, node, cpu, started_at } = sampleRun(MYSQL);
  return { ...bench, run: { engine, seed, node, cpu, started_at } };
}

/** The page without the findings that it carries for later runs. */
function seen(sections: readonly Section[]): string {
  return page(sections).replace(/<script[^]*<\/script>/, '');
}

/** Every text of a bench is this one. */
function filledWith(text: string): BenchReport {
  const row = { what: text, figure: text, bar: text, passed: true, engine: text };
  const bars: Plot = { kind: 'bars', title: text, unit: text, bars: [{ label: text, value: 1 }] };
  const lines: Plot = { kind: 'lines', title: text, x: text, y: text, lines: [{ name: text, points: [[1, 1]] }] };
  return { name: text, what: text, seconds: 1, measured: [row], plots: [bars, lines] };
}

it('escapes every text, in elements and in attributes', () => {
  const hostile = section(filledWith(`<i>&"'</i>`));
  const before = seen([section(filledWith('plain'))]);
  const after = seen([{ ...hostile, run: { ...hostile.run, engine: '<i>&"\'</i>', seed: '<i>', node: '<i>', cpu: { model: '"<i>', count: 2 } } }]);
  expect(after).toContain('&#60;i&#62;&#38;&#34;&#39;&#60;/i&#62;');
  expect(after).not.toContain('<i>');
  // As much markup as with texts that need no escaping, and as many attributes.
  for (const sign of ['<', '>', '"']) expect(after.split(sign)).toHaveLength(before.split(sign).length);
});

it('carries its findings in an element that none of them ends', () => {
  const sections = [section(filledWith('</script><script>alert(1)</script><!--'))];
  const text = page(sections);
  expect(text.match(/<script|<\/script|<!--/g)).toEqual(['<script', '</script']);
  expect(carriedBy(text)).toEqual(sections);
});

it('has an <svg> for every plot, and says what it shows', () => {
  const text = seen([section(sampleBench('store', MYSQL)), section({ ...sampleBench('codec', 'Node 24.21.0'), plots: [SAMPLE_BARS, SAMPLE_LINES, SAMPLE_BARS] })]);
  const plots = [...text.matchAll(/<svg role="img" aria-label="([^"]+)"/g)].map((found) => found[1] ?? '');
  expect(plots).toHaveLength(5);
  expect(plots.filter((label) => label.startsWith(SAMPLE_BARS.title))).toHaveLength(3);
  expect(plots.filter((label) => label.startsWith(SAMPLE_LINES.title))).toHaveLength(2);
});

it('draws every bar with its whisker, its value and what is allowed, and every line with its points', () => {
  const text = seen([section(sampleBench('store', MYSQL))]);
  expect(text.match(/<rect class="(passed|failed|plain)"/g)).toEqual(['<rect class="passed"', '<rect class="failed"', '<rect class="plain"']);
  expect(text.match(/<line class="wanted"/g)).toHaveLength(2);
  // A line and its two ends.
  expect(text.match(/<line class="whisker"/g)).toHaveLength(3);
  for (const value of ['0.910', '✗ 4.20', '0.970']) expect(text).toContain(`>${value}</text>`);
  expect(text.match(/<polyline/g)).toHaveLength(2);
  expect(text.match(/<circle/g)).toHaveLength(6);
  for (const tick of ['10K', '100K', '1M']) expect(text).toContain(`>${tick}</text>`);
});

it('has only a table for a bench without plots', () => {
  const { plots: _none, ...bench } = sampleBench('shards', MYSQL);
  const text = seen([section(bench)]);
  expect(text).toContain('<td>0.91</td>');
  expect(text).not.toContain('<svg');
});

it('refers to nothing outside of itself', () => {
  const text = page([section(sampleBench('store', MYSQL))]);
  expect(text).not.toMatch(/https?:|\bsrc\s*=|<link|@import|url\(/i);
  expect([...text.matchAll(/href="([^"]*)"/g)].map((found) => found[1])).toEqual(['#bench-store']);
  expect(text).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
});

it('says what the machine was, when it was, and how to measure again', () => {
  const text = seen([section(sampleBench('store', MYSQL))]);
  expect(text).toContain('Sample CPU, 2 processors, Node 24.21.0');
  expect(text).toContain('2026-01-31 08:00 UTC');
  expect(text).toContain('npm run bench -- store --engine mysql --seed 42');
});

import { describe, expect, it } from 'vitest';
import { drawablePlots, refusedRow } from './drawable-plots.ts';
import { linearScale, logScale, measuredNumber, shortNumber } from './scale.ts';
import { wrapped } from './wrapped-text.ts';

const texts = ({ ticks }: { readonly ticks: readonly { readonly text: string }[] }): readonly string[] => ticks.map(({ text }) => text);

describe('a linear axis', () => {
  it.each([
    [[0.85, 0.97, 1.13], ['0', '0.5', '1', '1.5']],
    [[1, 10], ['0', '2', '4', '6', '8', '10']],
    [[312_000], ['0', '100K', '200K', '300K', '400K']],
    [[-3, 4], ['-4', '-2', '0', '2', '4']],
    [[0], ['0', '1']],
    [[], ['0', '1']],
  ])('of %j begins at 0 or below, has round ticks and room for all', (values, ticks) => {
    const scale = linearScale(values);
    expect(texts(scale)).toEqual(ticks);
    for (const value of values) {
      expect(scale.at(value)).toBeGreaterThanOrEqual(0);
      expect(scale.at(value)).toBeLessThanOrEqual(1);
    }
  });
});

describe('a logarithmic axis', () => {
  it('has few places as its ticks, and makes equal ratios equal distances', () => {
    const scale = logScale([64, 512, 4096, 512]);
    expect(texts(scale)).toEqual(['64', '512', '4,096']);
    expect(scale.ticks.map(({ at }) => Number(at.toFixed(9)))).toEqual([0, 0.5, 1]);
  });

  it('has powers of ten for many', () => {
    expect(texts(logScale([20, 30, 40, 50, 60, 70, 80, 90, 2000]))).toEqual(['10', '100', '1,000', '10K']);
  });

  it('leaves out labels that would overlap', () => {
    expect(texts(logScale([1000, 1001, 1_000_000]))).toEqual(['1,000', '1M']);
  });

  it('has what is not above 0 at its start', () => {
    const scale = logScale([-3, 0, 1, 10, 100]);
    expect(texts(scale)).toEqual(['≤ 1', '10', '100']);
    expect([-3, 0, 1].map(scale.at)).toEqual([0, 0, 0]);
  });

  it('has a single place in the middle', () => {
    expect(logScale([5]).at(5)).toBe(0.5);
  });
});

it.each([[0.5, '0.5', '0.500'], [99.44, '99.4', '99.4'], [4096.4, '4,096', '4,096'], [12_345.6, '12.35K', '12,346'], [1_234_567, '1.235M', '1.235M'], [0, '0', '0']])('%d is %s on an axis, and %s where it was measured', (value, short, measured) => {
  expect([shortNumber(value), measuredNumber(value)]).toEqual([short, measured]);
});

it('breaks labels at blanks, and words only where they are longer than a line', () => {
  expect(wrapped('put: buffer, append, an entry; 32 at once')).toHaveLength(1);
  expect(wrapped('the append, next to AUTO_INCREMENT; 256 shards, 32 at once')).toEqual(['the append, next to AUTO_INCREMENT; 256', 'shards, 32 at once']);
  expect(wrapped('x'.repeat(100)).map(({ length }) => length)).toEqual([42, 42, 16]);
});

it('names what no axis has a place for, in a row that fails', () => {
  const { plots, refused } = drawablePlots([
    { kind: 'bars', title: 'bars', unit: 's', bars: [{ label: 'good', value: 1 }, { label: 'bad', value: 1, most: Number.POSITIVE_INFINITY }] },
    { kind: 'lines', title: 'lines', x: 'x', y: 'y', logX: true, lines: [{ name: 'p50', points: [[0, 1], [1, Number.NaN], [2, 3]] }] },
  ]);
  expect(refused).toEqual(['bars: bad', 'lines: p50 at 1']);
  expect(plots.map((plot) => (plot.kind === 'bars' ? plot.bars.length : plot.lines[0]?.points))).toEqual([1, [[0, 1], [2, 3]]]);
  expect(refusedRow(refused, 'MySQL 8.0.40')).toMatchObject([{ passed: false, figure: expect.stringContaining('bars: bad, lines: p50 at 1') }]);
  expect(refusedRow([], 'MySQL 8.0.40')).toEqual([]);
});

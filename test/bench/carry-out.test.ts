import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Bench, BenchReport, BenchWorld, Findings } from './bench.ts';
import { carryOut } from './carry-out.ts';

const ENGINE = 'MySQL 8.0.40';
const FINDINGS: Findings = { measured: [{ what: 'row', result: '1', bar: 'printed', passed: true, engine: ENGINE }] };
const LIMIT = { passed: false, result: 'took longer than 0 minutes', bar: 'at most 0 minutes', engine: ENGINE };

// Errors are printed.
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => undefined));
afterEach(() => void vi.restoreAllMocks());

/** @param limitMinutes at 0, a bench is told to stop as soon as it waits */
function carriedOut(
  measure: Bench['measure'],
  { limitMinutes = 1, signal = new AbortController().signal } = {},
): Promise<BenchReport> {
  const world: BenchWorld = { engine: undefined, seed: '1', folder: '', signal, say: () => undefined };
  return carryOut({ name: 'store', what: 'what it is', limitMinutes, measure }, world, ENGINE, 0);
}

it('returns the findings', async () => {
  const report = { name: 'store', what: 'what it is', seconds: expect.any(Number), ...FINDINGS };
  expect(await carriedOut(async () => FINDINGS)).toEqual(report);
});

it('makes an error a row that fails', async () => {
  const { measured } = await carriedOut(() => Promise.reject(new Error('no server\nmore of it')));
  const bar = 'an end without an error';
  expect(measured).toEqual([{ what: 'store, whole', passed: false, result: 'no server', bar, engine: ENGINE }]);
});

describe('a bench over its limit', () => {
  it.each<[string, Bench['measure']]>([
    ['ends when it is told to', ({ signal }) => once(signal, 'abort').then(() => signal.throwIfAborted() as never)],
    ['ends early, as if it were done', ({ signal }) => once(signal, 'abort').then(() => FINDINGS)],
    ['never waits', async () => FINDINGS],
    ['ignores the signal', () => new Promise<Findings>(() => undefined)],
  ])('has failed: it %s', async (_how, measure) => {
    expect((await carriedOut(measure, { limitMinutes: 0 })).measured).toMatchObject([LIMIT]);
  });
});

it('rejects when it is stopped from outside, whatever came of it', async () => {
  const stop = new AbortController();
  const work = carriedOut(({ signal }) => once(signal, 'abort').then(() => FINDINGS), { signal: stop.signal });
  stop.abort(new Error('stopped by SIGINT'));
  await expect(work).rejects.toThrow('stopped by SIGINT');
});

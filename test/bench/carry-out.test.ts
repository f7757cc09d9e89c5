import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Bench, BenchWorld, Findings } from './bench.ts';
import { carryOut } from './carry-out.ts';
import type { BenchReport } from './report/findings.ts';

const ENGINE = 'MySQL 8.0.40';
const FINDINGS: Findings = { measured: [{ what: 'row', figure: '1', bar: 'printed', passed: true, engine: ENGINE }] };
const LIMIT = { passed: false, figure: 'took longer than 0.001 minutes', bar: 'at most 0.001 minutes', engine: ENGINE };
const PATIENCE = { stopMs: 50, noticeMs: 50 };
const folder = mkdtempSync(join(tmpdir(), 'schemaless-carry-out-'));
afterAll(() => rmSync(folder, { recursive: true }));
// What goes wrong is printed.
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => undefined));

/** @param limitMinutes of 60 ms, unless it is given */
function carriedOut(
  measure: Bench['measure'],
  { limitMinutes = 0.001, signal = new AbortController().signal } = {},
): Promise<BenchReport> {
  const world: BenchWorld = { engine: undefined, seed: '1', folder, signal, say: () => undefined };
  return carryOut({ name: 'store', what: 'what it is', limitMinutes, measure }, world, ENGINE, PATIENCE);
}

it('gives what was found', async () => {
  expect(await carriedOut(async () => FINDINGS, { limitMinutes: 1 })).toEqual({
    name: 'store',
    what: 'what it is',
    seconds: expect.any(Number),
    ...FINDINGS,
  });
});

it('makes an error a row that fails', async () => {
  const { measured } = await carriedOut(() => Promise.reject(new Error('no server\nmore of it')), { limitMinutes: 1 });
  expect(measured).toEqual([
    { what: 'store, whole', passed: false, figure: 'no server', bar: 'an end without an error', engine: ENGINE },
  ]);
});

it('adds a row that fails for what cannot be drawn', async () => {
  const plots: Findings['plots'] = [
    {
      kind: 'bars',
      title: 'rates',
      unit: '1/s',
      bars: [
        { label: 'none', value: Number.NaN },
        { label: 'good', value: 1 },
      ],
    },
    {
      kind: 'lines',
      title: 'lags',
      x: 's',
      y: '%',
      lines: [
        {
          name: 'p50',
          points: [
            [0, 1],
            [1, Number.POSITIVE_INFINITY],
          ],
        },
      ],
    },
  ];
  const found = await carriedOut(async () => ({ ...FINDINGS, plots }), { limitMinutes: 1 });
  expect(found.measured).toMatchObject([
    ...FINDINGS.measured,
    { passed: false, figure: expect.stringContaining('rates: none, lags: p50 at 1') },
  ]);
  expect(found.plots).toMatchObject([
    { bars: [{ label: 'good', value: 1 }] },
    { lines: [{ name: 'p50', points: [[0, 1]] }] },
  ]);
});

describe('a bench over its limit', () => {
  it.each<[string, Bench['measure']]>([
    ['ends when it is told to', ({ signal }) => sleep(10_000, FINDINGS, { signal })],
    [
      'ends early, as if it were done',
      async ({ signal }) => {
        while (!signal.aborted) await sleep(5);
        return FINDINGS;
      },
    ],
    [
      'never waits',
      async () => {
        const start = performance.now();
        while (performance.now() - start < 100);
        return FINDINGS;
      },
    ],
    ['does not heed the signal', () => new Promise<Findings>(() => undefined)],
  ])('has failed: it %s', async (_how, measure) => {
    expect((await carriedOut(measure)).measured).toMatchObject([LIMIT]);
  });

  it('has its processes killed when it does not end by itself', async () => {
    let exit: unknown;
    const { measured } = await carriedOut(async () => {
      const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)', join(folder, 'server')], {
        stdio: 'ignore',
      });
      exit = (await once(child, 'exit'))[1];
      throw new Error('the server is gone');
    });
    expect(exit).toBe('SIGKILL');
    expect(measured).toMatchObject([LIMIT]);
  });
});

it('rejects when it is stopped from outside, whatever came of it', async () => {
  const stop = new AbortController();
  const work = carriedOut(
    async ({ signal }) => {
      await once(signal, 'abort');
      return FINDINGS;
    },
    { limitMinutes: 1, signal: stop.signal },
  );
  stop.abort(new Error('stopped by SIGINT'));
  await expect(work).rejects.toThrow('stopped by SIGINT');
});

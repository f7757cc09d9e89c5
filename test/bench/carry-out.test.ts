import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { folderOfTests } from '../infra/support/folder-of-tests.ts';
import type { Bench, BenchReport, BenchWorld, Findings } from './bench.ts';
import { carryOut } from './carry-out.ts';

const ENGINE = 'MySQL 8.0.40';
const FINDINGS: Findings = { measured: [{ what: 'row', figure: '1', bar: 'printed', passed: true, engine: ENGINE }] };
const LIMIT = { passed: false, figure: 'took longer than 0 minutes', bar: 'at most 0 minutes', engine: ENGINE };
const folder = folderOfTests().path;

// What goes wrong is printed.
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => undefined));
afterEach(() => void vi.restoreAllMocks());

/** @param limitMinutes with 0 of them a bench is told to stop as soon as it waits */
function carriedOut(
  measure: Bench['measure'],
  { limitMinutes = 1, signal = new AbortController().signal, noticeMs = 0 } = {},
): Promise<BenchReport> {
  const world: BenchWorld = { engine: undefined, seed: '1', folder, signal, say: () => undefined };
  const patience = { stopMs: 0, noticeMs };
  return carryOut({ name: 'store', what: 'what it is', limitMinutes, measure }, world, ENGINE, patience);
}

it('gives what was found', async () => {
  const report = { name: 'store', what: 'what it is', seconds: expect.any(Number), ...FINDINGS };
  expect(await carriedOut(async () => FINDINGS)).toEqual(report);
});

it('makes an error a row that fails', async () => {
  const { measured } = await carriedOut(() => Promise.reject(new Error('no server\nmore of it')));
  const bar = 'an end without an error';
  expect(measured).toEqual([{ what: 'store, whole', passed: false, figure: 'no server', bar, engine: ENGINE }]);
});

describe('a bench over its limit', () => {
  it.each<[string, Bench['measure']]>([
    ['ends when it is told to', ({ signal }) => once(signal, 'abort').then(() => signal.throwIfAborted() as never)],
    ['ends early, as if it were done', ({ signal }) => once(signal, 'abort').then(() => FINDINGS)],
    ['never waits', async () => FINDINGS],
    ['does not heed the signal', () => new Promise<Findings>(() => undefined)],
  ])('has failed: it %s', async (_how, measure) => {
    expect((await carriedOut(measure, { limitMinutes: 0 })).measured).toMatchObject([LIMIT]);
  });

  it('has its processes killed when it does not end by itself', async () => {
    const program = 'console.log("here"); process.stdin.resume()';
    const child = spawn(process.execPath, ['--eval', program, join(folder, 'server')], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    const measure = async (): Promise<Findings> => {
      await ended;
      throw new Error('the server is gone');
    };
    // Longer than any machine takes to notice.
    const { measured } = await carriedOut(measure, { limitMinutes: 0, noticeMs: 60_000 });
    expect((await ended)[1]).toBe('SIGKILL');
    expect(measured).toMatchObject([LIMIT]);
  });
});

it('rejects when it is stopped from outside, whatever came of it', async () => {
  const stop = new AbortController();
  const work = carriedOut(({ signal }) => once(signal, 'abort').then(() => FINDINGS), { signal: stop.signal });
  stop.abort(new Error('stopped by SIGINT'));
  await expect(work).rejects.toThrow('stopped by SIGINT');
});

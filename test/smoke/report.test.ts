import { expect, it } from 'vitest';
import { reportLines } from './report.ts';
import type { Checked } from './run-checks.ts';

const check = (name: string, rest: Partial<Checked> = {}): Checked => ({
  name,
  state: 'passed',
  why: '',
  notes: [],
  requests: [],
  ...rest,
});

it('a report of checks that passed says how many, what was skipped and why', () => {
  const checks = [
    check('a'),
    check('b', { notes: ['it took 7 ms'] }),
    check('c', { state: 'skipped', why: 'no reader' }),
  ];
  expect(reportLines(checks, 12.4)).toEqual([
    'it took 7 ms',
    'skipped: c: no reader',
    '2 checks passed, 1 skipped, in 12 s',
  ]);
});

it('a report of checks that failed says why, and which requests to look up', () => {
  const checks = [
    check('a'),
    check('b', { state: 'failed', why: 'wanted 1,\ngot 2', requests: ['GET /v1/health: 500, request id abc'] }),
  ];
  expect(reportLines(checks, 1)).toEqual([
    '',
    'FAILED: b',
    '  wanted 1,',
    '  got 2',
    '  its last requests:',
    '    GET /v1/health: 500, request id abc',
    '',
    'FAIL: 1 of 2 checks, 0 skipped, in 1 s',
  ]);
});

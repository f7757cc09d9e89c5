import { expect, it } from 'vitest';
import { failedIn, failures, type RunReport } from './failures.ts';

const report = (...tests: readonly (readonly [name: string, status: string])[]): RunReport => ({
  testResults: [
    {
      name: 'a.test.ts',
      status: tests.some(([, status]) => status === 'failed') ? 'failed' : 'passed',
      assertionResults: tests.map(([fullName, status]) => ({ fullName, status })),
    },
  ],
});

it('counts how often each test failed, the most frequent first', () => {
  const reports = [
    report(['once', 'failed'], ['often', 'failed'], ['never', 'passed']),
    report(['once', 'passed'], ['often', 'failed'], ['never', 'skipped']),
  ];
  expect(failures(reports)).toEqual([
    ['a.test.ts: often', 2],
    ['a.test.ts: once', 1],
  ]);
  expect(failures([report(['never', 'passed'])])).toEqual([]);
});

it('counts a file that failed outside of its tests, and a run that left no report', () => {
  const broken: RunReport = { testResults: [{ name: 'b.test.ts', status: 'failed', assertionResults: [] }] };
  expect(failures([broken, undefined, broken])).toEqual([
    ['b.test.ts', 2],
    ['the run', 1],
  ]);
});

it('tells the first line of what a test failed by', () => {
  const failureMessages = ['AssertionError: expected 1 to be 2\n    at a.test.ts:3:4'];
  const broken: RunReport = {
    testResults: [
      {
        name: 'a.test.ts',
        status: 'failed',
        assertionResults: [{ fullName: 'one', status: 'failed', failureMessages }],
      },
    ],
  };
  expect([...failedIn(broken)]).toEqual([['a.test.ts: one', 'AssertionError: expected 1 to be 2']]);
});

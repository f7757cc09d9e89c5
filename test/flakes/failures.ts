/** Of one run of the tests: the parts of Vitest's JSON report that tell what failed. */
export interface RunReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    /** Of a file that failed outside of its tests. */
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

/**
 * Returns how often each test failed, the most frequent first. A file that failed without a failed test, as by an error
 * in a hook, counts as itself; a run without a report counts as "the run".
 *
 * @param reports one for each run; `undefined` if the run left no report
 */
export function failures(
  reports: readonly (RunReport | undefined)[],
): readonly (readonly [test: string, runs: number])[] {
  const counts = new Map<string, number>();
  for (const report of reports)
    for (const name of failedIn(report).keys()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one);
}

/** Returns the failures of a run, with the first line of each message. */
export function failedIn(report: RunReport | undefined): ReadonlyMap<string, string> {
  if (report === undefined) return new Map([['the run', 'no report']]);
  const failed = new Map<string, string>();
  for (const { name, status, message, assertionResults } of report.testResults) {
    const tests = assertionResults.filter((test) => test.status === 'failed');
    for (const test of tests) failed.set(`${name}: ${test.fullName}`, firstLine(test.failureMessages?.[0]));
    if (tests.length === 0 && status === 'failed') failed.set(name, firstLine(message));
  }
  return failed;
}

function firstLine(message = 'no message'): string {
  return message.trim().split('\n')[0] ?? '';
}

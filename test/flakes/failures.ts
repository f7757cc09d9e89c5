/** Of one run of the tests: the parts of Vitest's JSON report that tell what failed. */
export interface RunReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/**
 * Returns how often each test failed, the most frequent first. A file that failed without a failed test, as by an error
 * in a hook, counts as itself; a run without a report counts as "the run".
 *
 * @param reports one for each run; `undefined` where the run left no report
 */
export function failures(
  reports: readonly (RunReport | undefined)[],
): readonly (readonly [test: string, runs: number])[] {
  const counts = new Map<string, number>();
  for (const report of reports)
    for (const name of new Set(failedIn(report))) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one);
}

function failedIn(report: RunReport | undefined): readonly string[] {
  if (report === undefined) return ['the run'];
  return report.testResults.flatMap(({ name, status, assertionResults }) => {
    const tests = assertionResults
      .filter((test) => test.status === 'failed')
      .map((test) => `${name}: ${test.fullName}`);
    return tests.length === 0 && status === 'failed' ? [name] : tests;
  });
}

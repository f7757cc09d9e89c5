import type { Checked } from './run-checks.ts';

/** Returns the report of the checks: their notes, the skipped ones, the failed ones, and the totals. */
export function reportLines(checks: readonly Checked[], seconds: number): readonly string[] {
  const of = (state: Checked['state']): readonly Checked[] => checks.filter((check) => check.state === state);
  const [failed, skipped] = [of('failed'), of('skipped')];
  const rest = `${skipped.length} skipped, in ${seconds.toFixed(0)} s`;
  return [
    ...checks.flatMap(({ notes }) => notes),
    ...skipped.map(({ name, why }) => `skipped: ${name}: ${why}`),
    ...failed.flatMap(({ name, why, requests }) => [
      '',
      `FAILED: ${name}`,
      ...indented(why.split('\n')),
      ...(requests.length === 0 ? [] : indented(['its last requests:', ...indented(requests)])),
    ]),
    ...(failed.length === 0
      ? [`${of('passed').length} checks passed, ${rest}`]
      : ['', `FAIL: ${failed.length} of ${checks.length} checks, ${rest}`]),
  ];
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}

import { grouped, holds, type Check, type FaultRun, type RunOutcome } from './fault-run.ts';
import { textTable } from '../support/text-table.ts';

export interface RunReport {
  readonly run: Pick<FaultRun, 'name' | 'promise' | 'fault' | 'control'>;
  readonly outcome: RunOutcome;
  readonly seed: string;
  readonly seconds: number;
}

export function runLines({ run, outcome, seed, seconds }: RunReport): readonly string[] {
  return [
    '',
    `${run.name} on ${outcome.engine}`,
    ...textTable([
      ['promise', run.promise],
      ['fault', run.fault],
      ['control', run.control],
      ['run', `seed ${seed}, ${grouped(outcome.cells)} cells, ${Math.round(seconds)} s`],
      ...outcome.notes.map((note) => ['', note]),
    ]).map(indented),
    '',
    ...textTable([['check', 'figure', 'bar', 'control', 'verdict'], ...outcome.checks.map(rowOf)]).map(indented),
    '',
  ];
}

export function summaryLines(reports: readonly RunReport[]): readonly string[] {
  const rows = reports.flatMap(({ run, outcome, seed, seconds }) => {
    const ofRun = [seed, grouped(outcome.cells), String(Math.round(seconds)), outcome.engine ?? ''];
    return outcome.checks.map((check) => [run.name, ...rowOf(check), ...ofRun]);
  });
  return textTable(
    [['run', 'check', 'figure', 'bar', 'control', 'verdict', 'seed', 'cells', 'seconds', 'engine'], ...rows],
    [6, 7, 8],
  );
}

function rowOf(check: Check): readonly string[] {
  return [check.what, check.result, check.bar, check.control.result, verdict(check)];
}

function verdict(check: Check): string {
  if (holds(check)) return 'PASS';
  return check.passed ? 'FAIL: the control did not fail' : 'FAIL';
}

function indented(line: string): string {
  return `  ${line}`;
}

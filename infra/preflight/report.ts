import { textTable } from '../cli/output/text.ts';
import type { Finding, Verdict } from '../../shared/preflight/check.ts';

/** Exit codes; failures take precedence over unknowns. */
export const EXIT_CODES = { ok: 0, FAIL: 1, unknown: 2 } as const satisfies Record<Verdict, number>;

export function verdictOf(findings: readonly Finding[]): Verdict {
  const has = (wanted: Verdict): boolean => findings.some(({ verdict }) => verdict === wanted);
  return has('FAIL') ? 'FAIL' : has('unknown') ? 'unknown' : 'ok';
}

/** A line for each check, and a summary. */
export function tableOf(environment: string, findings: readonly Finding[]): string {
  const rows = findings.map(({ check, wanted, found, verdict, todo, link }) => [
    check,
    wanted,
    found,
    verdict,
    [todo, link].filter((text) => text !== undefined).join(': '),
  ]);
  const table = textTable({ headers: ['check', 'wanted', 'found', 'verdict', 'what to do'], rows });
  return `${table}\n\n${summary(environment, findings)}`;
}

function summary(environment: string, findings: readonly Finding[]): string {
  const count = (wanted: Verdict): number => findings.filter(({ verdict }) => verdict === wanted).length;
  const says = {
    ok: 'nothing stands in the way of a first deployment',
    FAIL: 'a first deployment would be refused',
    unknown: 'nothing is known to stand in the way, but not everything could be judged',
  };
  return `${environment}: ${says[verdictOf(findings)]} (${count('ok')} ok, ${count('FAIL')} FAIL, ${count('unknown')} unknown)`;
}

export function jsonOf(environment: string, region: string, findings: readonly Finding[]): string {
  return JSON.stringify({ environment, region, verdict: verdictOf(findings), checks: findings }, null, 2);
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { appOf, resolvedByName } from '../infra/support/synthesized.ts';
import { alarmsOf, kindOf, metricsOf } from './alarm.ts';
import { NOT_HERE, ROUNDS } from './alarm-cases.ts';

const inCases = ROUNDS.flat(2).flatMap(({ sections }) => sections);

it('each section of the runbook has one case, or the reason why it has none', () => {
  const runbook = readFileSync(join(PROJECT_ROOT, 'infra/docs/operations/runbook.md'), 'utf8');
  const sections = [...runbook.matchAll(/^## (?<name>[a-z-]+)$/gmu)].map(({ groups }) => groups?.['name'] ?? '');
  expect([...inCases, ...Object.keys(NOT_HERE)].sort()).toEqual(sections.sort());
});

describe('the alarms of prod, which has all that there are', () => {
  const { stacks } = appOf({ environment: 'prod' });
  const alarms = alarmsOf(stacks, resolvedByName(stacks).property);

  it('can be judged, and are known to ring, or to be impossible here', () => {
    expect(alarms.length).toBeGreaterThan(40);
    const known = new Set([...inCases, ...Object.keys(NOT_HERE)]);
    expect(alarms.filter(({ section }) => !known.has(section))).toEqual([]);
  });

  it('are of one kind within a section, so that one can stand for the others', () => {
    const kinds = Map.groupBy(alarms, ({ section }) => section);
    for (const [section, of] of kinds) expect([section, new Set(of.map(kindOf)).size]).toEqual([section, 1]);
  });

  it('look at metrics that something names', () => {
    for (const { checks, threshold } of alarms) {
      for (const { namespace, name, dimensions } of metricsOf(checks)) {
        expect(`${namespace} ${name}`).toMatch(/^(?:Schemaless|AWS\/\w+) \w+$/u);
        for (const value of Object.values(dimensions)) expect(value).toMatch(/^[\w.-]+$/u);
      }
      expect(threshold).not.toBeNaN();
    }
  });
});

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alarmsOf, type AlarmDefinition } from '../../alarms/alarm.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { resolvedByName, synthesized } from '../support/synthesized.ts';

const folder = folderOfTests();

function alarmsIn(environment: 'prod'): readonly AlarmDefinition[] {
  const stacks = synthesized(join(folder.path, environment), { environment });
  return alarmsOf(stacks, resolvedByName(stacks).property);
}

const prod = alarmsIn('prod');
const of = (section: string): readonly AlarmDefinition[] => prod.filter((alarm) => alarm.section === section);
const FIVE_MINUTES = { periodSeconds: 300, silenceIsBad: false };

describe('alarms of prod', () => {
  it('that tell of requests which are not served leave out those that ask an index while it is built', () => {
    expect(of('server-errors')).toMatchObject([
      {
        looksAt: {
          expression: '100 * (errors - FILL(building, 0)) / requests',
          metrics: {
            errors: { namespace: 'AWS/ApiGateway', name: '5xx', statistic: 'Sum' },
            building: {
              namespace: 'Schemaless',
              name: 'answered_index_building',
              dimensions: { service: 'prod' },
              statistic: 'Sum',
            },
            requests: { namespace: 'AWS/ApiGateway', name: 'Count', statistic: 'Sum' },
          },
        },
        ...FIVE_MINUTES,
        threshold: 1,
      },
    ]);
  });
});

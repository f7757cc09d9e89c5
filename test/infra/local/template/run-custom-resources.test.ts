import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { CustomResourceDefinition } from '../../../../infra/local/template/resources/custom-resource.ts';
import { runCustomResources } from '../../../../infra/local/template/run-custom-resources.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const definition: CustomResourceDefinition = {
  address: {
    stack: { name: 'service', folder: '/nowhere', template: { Resources: {} } },
    logicalId: 'Migration',
    resource: { Type: 'Custom::Migration' },
  },
  type: 'Custom::Migration',
  properties: { Shards: '4' },
  onEventArn: 'on-event',
  isCompleteArn: 'is-complete',
};

it('a custom resource is created once and then updated, until its work is complete', async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, 'made.json');
  const asked: string[] = [];
  let polls = 0;
  const invoke = async (arn: string, text: string): Promise<string> => {
    const event = JSON.parse(text);
    asked.push(
      `${arn} ${event.RequestType} ${event.PhysicalResourceId ?? '-'} ${JSON.stringify(event.OldResourceProperties ?? '-')}`,
    );
    if (arn === 'on-event') return JSON.stringify({ PhysicalResourceId: 'constant', Data: { a: 1 } });
    polls += 1;
    return JSON.stringify({ IsComplete: polls % 2 === 0 });
  };
  await runCustomResources([definition], 'all', file, invoke);
  await runCustomResources([{ ...definition, properties: { Shards: '5' } }], 'all', file, invoke);
  expect(asked).toEqual([
    'on-event Create - "-"',
    'is-complete Create constant "-"',
    'is-complete Create constant "-"',
    'on-event Update constant {"Shards":"4"}',
    'is-complete Update constant {"Shards":"4"}',
    'is-complete Update constant {"Shards":"4"}',
  ]);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    'service/Migration': { physicalId: 'constant', properties: { Shards: '5' } },
  });
});

it.each([
  ['fails', () => Promise.reject(new Error('no rights')), 'Migration (Custom::Migration) of service failed: no rights'],
  [
    'never completes',
    async (arn: string) =>
      JSON.stringify(arn === 'on-event' ? { PhysicalResourceId: 'constant' } : { IsComplete: false }),
    'not complete after 3 polls, see the log of its functions',
  ],
])('a custom resource that %s ends the start, which says where to look', async (_, invoke, message) => {
  using folder = temporaryFolder();
  const running = runCustomResources([definition], 'all', join(folder.path, 'made.json'), invoke, 3);
  await expect(running).rejects.toThrow(message);
});

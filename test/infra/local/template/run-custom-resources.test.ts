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
  let looks = 0;
  const invoke = async (arn: string, text: string): Promise<string> => {
    const event = JSON.parse(text);
    asked.push(
      `${arn} ${event.RequestType} ${event.PhysicalResourceId ?? '-'} ${JSON.stringify(event.OldResourceProperties ?? '-')}`,
    );
    if (arn === 'on-event') return JSON.stringify({ PhysicalResourceId: 'constant', Data: { a: 1 } });
    looks += 1;
    return JSON.stringify({ IsComplete: looks % 2 === 0 });
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

it('a custom resource that fails is named', async () => {
  using folder = temporaryFolder();
  const failing = runCustomResources([definition], 'all', join(folder.path, 'made.json'), async () => {
    throw new Error('no rights');
  });
  await expect(failing).rejects.toThrow('Migration (Custom::Migration) of service failed: no rights');
});

it('a custom resource that never completes ends the start, and says where to look', async () => {
  using folder = temporaryFolder();
  const invoke = async (arn: string): Promise<string> =>
    JSON.stringify(arn === 'on-event' ? { PhysicalResourceId: 'constant' } : { IsComplete: false });
  const never = runCustomResources([definition], 'all', join(folder.path, 'made.json'), invoke, 3);
  await expect(never).rejects.toThrow('not complete after 3 looks, see the log of its functions');
});

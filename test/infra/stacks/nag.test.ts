import { App } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { expect, it } from 'vitest';
import { GROUPS_IN_FIRST_STACK } from '../../../infra/constructs/group-stacks.ts';
import { checkAwsSolutions } from '../../../infra/nag.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { MANAGED_PROD, synthesized } from '../support/synthesized.ts';

const folder = folderOfTests();

// `npm run synth` shows that the environments themselves pass: it fails otherwise.
it('an app that breaks a rule without a reason is not synthesized, and a store of many groups and managed instances breaks none', () => {
  let complaint = '';
  try {
    synthesized(
      folder.path,
      { environment: 'prod', region: 'eu-west-1' },
      {
        environment: { ...MANAGED_PROD, groups: GROUPS_IN_FIRST_STACK + 1 },
        add: ({ service }) => {
          expect(new Queue(service, 'bare').node.id).toBe('bare');
          if (service.node.root instanceof App) checkAwsSolutions(service.node.root);
        },
      },
    );
  } catch (error) {
    complaint = String(error);
  }
  const broken = [...complaint.matchAll(/ (?<path>\S+) .*\n +Acknowledge with 'AwsSolutions::(?<id>.*)'$/gmu)];
  expect(broken.length).toBeGreaterThan(0);
  for (const { groups } of broken)
    expect(groups).toEqual({
      path: 'Schemaless-prod-service/bare/Resource',
      id: expect.stringMatching(/^AwsSolutions-SQS/u),
    });
});

import { App } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { expect, it } from 'vitest';
import { buildApp } from '../../../infra/app.ts';
import { checkAwsSolutions } from '../../../infra/nag.ts';
import { STAND_INS } from '../support/synthesized.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';

const folder = folderOfTests();

// That the environments themselves pass is shown by `npm run synth`, which ends with an error where they do not.
it('an app that breaks a rule, and does not say why, is not synthesized', () => {
  const app = new App({
    outdir: folder.path,
    context: { environment: 'dev', functions: STAND_INS, '@aws-cdk/core:validateAgainstDefaultRules': false },
    analyticsReporting: false,
    treeMetadata: false,
  });
  const { service } = buildApp(app);
  expect(new Queue(service, 'bare').node.id).toBe('bare');
  checkAwsSolutions(app);
  expect(() => app.synth()).toThrow(
    /Schemaless-dev-service\/bare\/Resource.*Acknowledge with 'AwsSolutions::AwsSolutions-SQS/su,
  );
});

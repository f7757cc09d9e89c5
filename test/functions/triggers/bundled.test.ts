import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';

it('a function of a trigger is bundled without the package that polls queues', async () => {
  const { errors, outputFiles } = await build({
    stdin: {
      contents: `import { triggerHandler } from './functions/triggers/exports.ts';
        export const handler = triggerHandler('bill_rider', async () => {});`,
      resolveDir: PROJECT_ROOT,
    },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    external: ['@aws-sdk/*'],
    alias: { 'sqs-consumer': join(PROJECT_ROOT, 'not-installed') },
    logLevel: 'silent',
  });
  expect(errors).toEqual([]);
  expect(outputFiles[0]?.text).toContain('handler');
});

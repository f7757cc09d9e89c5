import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { DEPLOYED_APP, synthesize } from '../../../../infra/local/template/synthesize.ts';
import { STAND_INS } from '../../support/synthesized.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { writeFiles } from '../../support/write-files.ts';

afterEach(() => void vi.useRealTimers());

it('is done once, and again when a source changed; what is wrong then is told with its place, and nothing more', async () => {
  // What was just written may have been changed while it was read.
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2999-01-01') });
  using folder = temporaryFolder();
  const [datastores, out] = [join(folder.path, 'datastores'), join(folder.path, 'out')];
  const confirm = "import { SAID } from '../lib/said.ts';\nexport const handler = async () => console.log(SAID);\n";
  writeFiles(folder.path, {
    'datastores/shop/datastore.yaml': 'datastore: shop\nshards: 4\n',
    'datastores/shop/triggers/confirm.yaml':
      "trigger: confirm\ndatastore: shop\ncolumns: '*'\nfunction: functions/confirm.ts\n",
    'functions/confirm.ts': confirm,
    'lib/said.ts': "export const SAID = 'said-before';\n",
  });
  const context = { environment: 'local', datastores, project: folder.path, functions: STAND_INS };
  const order = { app: DEPLOYED_APP, context, folder: out };
  const bundle = join(out, 'functions-local/trigger-shop-confirm/index.mjs');

  const { stacks } = await synthesize(order);
  const madeAt = statSync(bundle).mtimeMs;
  expect((await synthesize(order)).stacks).toEqual(stacks);
  expect(statSync(bundle).mtimeMs).toBe(madeAt);

  writeFiles(folder.path, { 'functions/confirm.ts': confirm.replace('said.ts', 'not-there.ts') });
  const message = await synthesize(order).then(
    () => 'it was bundled',
    (error: Error) => error.message,
  );
  expect(message).toMatch(/^The synthesis failed: /u);
  expect(message).toMatch(/Could not resolve "\.\.\/lib\/not-there\.ts"\s+\S*functions\/confirm\.ts:1:/u);
  expect(message).not.toMatch(/^\s+at /mu);
  expect(message.split('\n').length).toBeLessThan(10);
  expect(readFileSync(bundle, 'utf8')).toContain('said-before');
});

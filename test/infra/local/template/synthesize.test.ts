import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { DEPLOYED_APP, synthesize } from '../../../../infra/local/template/synthesize.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { writeFiles } from '../../support/write-files.ts';

it('a function that cannot be bundled is told with what is wrong where, and nothing of how that was found', async () => {
  using folder = temporaryFolder();
  const files = {
    'datastores/shop/datastore.yaml': 'datastore: shop\nshards: 4\n',
    'datastores/shop/triggers/confirm_order.yaml':
      "trigger: confirm_order\ndatastore: shop\ncolumns: '*'\nfunction: functions/confirm-order.ts\n",
    'functions/confirm-order.ts':
      "export const handler = 1;\nimport { nothing } from './not-there.ts';\nconsole.log(nothing);\n",
  };
  writeFiles(folder.path, files);
  const context = { environment: 'local', datastores: join(folder.path, 'datastores'), project: folder.path };
  const message = await synthesize({ app: DEPLOYED_APP, context, folder: join(folder.path, 'out') }).then(
    () => 'it was bundled',
    (error: Error) => error.message,
  );
  expect(message).toMatch(/^The synthesis failed: /u);
  expect(message).toMatch(/Could not resolve "\.\/not-there\.ts"\s+\S*functions\/confirm-order\.ts:2:/u);
  expect(message).not.toMatch(/^\s+at /mu);
  expect(message.split('\n').length).toBeLessThan(10);
});

it('is done once, and again when a file changed that a bundle was made of', { timeout: 240_000 }, async () => {
  using folder = temporaryFolder();
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder.path, file)), { recursive: true });
    writeFileSync(join(folder.path, file), text);
  };
  write('datastores/shop/datastore.yaml', 'datastore: shop\nshards: 4\n');
  write(
    'datastores/shop/triggers/confirm.yaml',
    "trigger: confirm\ndatastore: shop\ncolumns: '*'\nfunction: functions/confirm.ts\n",
  );
  write(
    'functions/confirm.ts',
    "import { SAID } from '../lib/said.ts';\nexport const handler = async () => console.log(SAID);\n",
  );
  write('lib/said.ts', "export const SAID = 'said-before';\n");
  await sleep(200);
  const context = { environment: 'local', datastores: join(folder.path, 'datastores'), project: folder.path };
  const order = { app: DEPLOYED_APP, context, folder: join(folder.path, 'out') };
  const bundle = join(order.folder, 'functions-local/trigger-shop-confirm/index.mjs');
  const madeAt = (): number => statSync(bundle).mtimeMs;

  const { stacks } = await synthesize(order);
  const first = madeAt();
  expect(readFileSync(bundle, 'utf8')).toContain('said-before');
  expect((await synthesize(order)).stacks).toEqual(stacks);
  expect(madeAt()).toBe(first);

  write('lib/said.ts', "export const SAID = 'said-later';\n");
  await synthesize(order);
  expect(readFileSync(bundle, 'utf8')).toContain('said-later');
});

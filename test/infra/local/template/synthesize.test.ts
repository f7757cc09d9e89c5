import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { DEPLOYED_APP, replaceAssembly, synthesize, whatIsWrong } from '../../../../infra/local/template/synthesize.ts';
import { PROJECT_ROOT } from '../../../../infra/app-context.ts';
import { STAND_INS } from '../../support/synthesized.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { writeFiles } from '../../support/write-files.ts';

afterEach(() => void vi.useRealTimers());

it('is done once, and again when a source changed; an error then gives its place, and nothing more', async () => {
  // A file written just now may have changed while it was read.
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

it('a new assembly takes the place of the last, but for the bundles that functions run from', () => {
  using folder = temporaryFolder();
  const old = { 'manifest.json': 'old', 'asset.old/index.mjs': 'old', 'asset.used/index.mjs': 'old' };
  writeFiles(join(folder.path, 'out'), old);
  const next = { 'manifest.json': 'new', 'asset.new/index.mjs': 'new', 'asset.used/index.mjs': 'new' };
  writeFiles(join(folder.path, 'next'), next);
  const out = join(folder.path, 'out');
  replaceAssembly(join(folder.path, 'next'), out, [join(out, 'asset.used/index.mjs'), '/elsewhere/index.mjs']);
  expect(readdirSync(out).sort()).toEqual(['asset.new', 'asset.used', 'manifest.json']);
  expect(readFileSync(join(out, 'manifest.json'), 'utf8')).toBe('new');
  // It is what a running function was loaded from; a bundle of this name has this content.
  expect(readFileSync(join(out, 'asset.used/index.mjs'), 'utf8')).toBe('old');
  expect(existsSync(join(out, 'asset.old'))).toBe(false);
});

it('of the places that called each other the innermost of ours is left', () => {
  const ours = join(PROJECT_ROOT, 'infra/stacks/store-api.ts');
  const complaint = `node:internal/modules/run_main:107
    triggerUncaughtException(

Error: the API: wanted a function, got none
    at resolve (${join(PROJECT_ROOT, 'node_modules/aws-cdk-lib/core/lib/stack.js')}:1:2)
    at integrationOf (${ours}:60:40)
    at new StoreApi (${ours}:70:20)

Node.js v24.21.0
`;
  expect(whatIsWrong(complaint)).toBe(`node:internal/modules/run_main:107
    triggerUncaughtException(
Error: the API: wanted a function, got none
    at integrationOf (${ours}:60:40)`);
});

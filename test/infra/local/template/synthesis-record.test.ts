import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, afterEach, describe, expect, it, vi } from 'vitest';
import { recordSynthesis, synthesizedFrom } from '../../../../infra/local/template/synthesis-record.ts';
import type { SynthesisOrder } from '../../../../infra/local/template/synthesis-order.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => {
  vi.unstubAllEnvs();
  folder[Symbol.dispose]();
});

function write(file: string, text: string): string {
  const path = join(folder.path, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

function order(): SynthesisOrder {
  const context = { environment: 'local', shards: 16, datastores: join(folder.path, 'datastores') };
  return { app: '/app.ts', context, folder: join(folder.path, 'out') };
}

const isSynthesized = (wanted: SynthesisOrder): boolean => synthesizedFrom(wanted) !== undefined;

/** What an assembly was made of, and the assembly; some time ago. */
async function synthesized(read: readonly string[] = []): Promise<void> {
  write('datastores/shop/datastore.yaml', 'datastore: shop\nshards: 4\n');
  write('out/template.json', '{}');
  const files = [write('app/functions/one.ts', 'export const one = 1;\n'), write('lib/node_modules/two/two.js', '2;')];
  await sleep(100);
  recordSynthesis(order(), [...files, ...read], Date.now());
}

it('what was made of the same is taken again', async () => {
  await synthesized();
  expect(isSynthesized(order())).toBe(true);
});

it('what is built of a package of the project meanwhile is no source', async () => {
  write('datastores/package.json', '{}');
  await synthesized();
  write('datastores/dist/built.js', '');
  expect(isSynthesized(order())).toBe(true);
  write('datastores/dist/built.js', 'again');
  expect(isSynthesized(order())).toBe(true);
});

describe('it is made anew', () => {
  it.each([
    ['when a source is changed', () => write('app/functions/one.ts', 'export const one = 2;\n')],
    ['when a source goes', () => rmSync(join(folder.path, 'app/functions/one.ts'))],
    ['when a file beside a source may take its place', () => write('app/functions/one.js', '')],
    ['when a file of a package is changed by hand', () => write('lib/node_modules/two/two.js', '3;')],
    ['when a folder above a source says what its modules are', () => write('app/package.json', '{}')],
    ['when a folder above a source says how it is compiled', () => write('app/tsconfig.json', '{}')],
    ['when a package comes into a folder above a source', () => write('app/node_modules/new/index.js', '')],
    ['when one of a scope does', () => write('lib/node_modules/@scope/new/index.js', '')],
    ['when a definition is changed', () => write('datastores/shop/datastore.yaml', 'datastore: shop\nshards: 8\n')],
    ['when one of a datastore called dist is', () => write('datastores/dist/datastore.yaml', 'datastore: dist\n')],
    ['when a definition is added', () => write('datastores/shop/triggers/new.yaml', '')],
    ['when something of it is gone', () => rmSync(join(folder.path, 'out/template.json'))],
    ['when something of it was cut off', () => write('out/template.json', '')],
    ['when there is nothing', () => rmSync(join(folder.path, 'out'), { recursive: true })],
    ['when its record cannot be read', () => write('out/synthesis.json', '{')],
    ['when the bundler is told otherwise', () => vi.stubEnv('NODE_PATH', '/elsewhere')],
    ['when Node is another', () => vi.spyOn(process, 'version', 'get').mockReturnValue('v24.99.0')],
  ])('%s', async (_when, change) => {
    await synthesized();
    expect(isSynthesized(order())).toBe(true);
    change();
    expect(isSynthesized(order())).toBe(false);
    vi.restoreAllMocks();
  });

  it('for another app, or with another flag', async () => {
    await synthesized();
    expect(isSynthesized({ ...order(), app: '/other.ts' })).toBe(false);
    expect(isSynthesized({ ...order(), context: { ...order().context, shards: 17 } })).toBe(false);
  });

  it('when a file was changed while it was made', async () => {
    await synthesized();
    rmSync(join(folder.path, 'out/synthesis.json'));
    const startedAt = Date.now();
    const late = write('app/functions/late.ts', '');
    recordSynthesis(order(), [late], startedAt);
    expect(isSynthesized(order())).toBe(false);
    await sleep(100);
    recordSynthesis(order(), [late], Date.now());
    expect(isSynthesized(order())).toBe(true);
  });

  it('always, when settings of the compiler come from a file that is not looked at', async () => {
    write('app/tsconfig.json', '{ "extends": "../base.json" }');
    await synthesized();
    expect(isSynthesized(order())).toBe(false);
  });
});

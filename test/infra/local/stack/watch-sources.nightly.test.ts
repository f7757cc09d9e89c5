import { readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PROJECT_ROOT } from '../../../../infra/app-context.ts';
import { watchSources, type WatchedSources } from '../../../../infra/local/stack/watch-sources.ts';
import { localStack } from '../../../support/local-stack.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { writeFiles } from '../../support/write-files.ts';

/** A whole stack, synthesized several times, on a machine that has other things to do. */
vi.setConfig({ testTimeout: 900_000 });
const OUTPUT = { timeout: 400_000, interval: 50 };
const folder = temporaryFolder();
const lines: string[] = [];
let watched: WatchedSources;

const FILES = {
  'datastores/shop/datastore.yaml': 'datastore: shop\nshards: 4\n',
  'datastores/shop/triggers/confirm.yaml':
    'trigger: confirm\ndatastore: shop\ncolumns: [ORDER]\nfunction: functions/confirm.ts\n',
  'functions/confirm.ts': confirming("import { TEXT } from '../lib/text.ts';"),
  'lib/text.ts': "export const TEXT = 'thanks';\n",
};

function confirming(first: string): string {
  return `${first}
import { triggerHandler } from ${JSON.stringify(join(PROJECT_ROOT, 'functions/triggers/trigger-handler.ts'))};
export const handler = triggerHandler('confirm', async (rowKey, _message, schemaless) => {
  await schemaless.put({ row_key: rowKey, column_name: 'CONFIRMATION', ref_key: 1, body: { text: TEXT } });
});
`;
}

const index = (table: string, field: string): string =>
  `table: ${table}\ndatastore: shop\ncolumn_defs:\n  - column_key: ORDER\n    fields:\n      - { field: ${field}, type: string }\n`;

/** As most editors do: another file is put in its place. */
function save(file: string, text: string): void {
  writeFiles(folder.path, { [`${file}.tmp~`]: text });
  renameSync(join(folder.path, `${file}.tmp~`), join(folder.path, file));
}

writeFiles(folder.path, FILES);
const stack = localStack(folder, { datastores: join(folder.path, 'datastores'), projectFolder: folder.path }, false);
const watch = async (since?: number) => {
  watched = await watchSources(stack(), (line) => lines.push(line), since);
};
beforeAll(() => watch());
afterAll(() => watched?.close());

const called = (path: string, init?: RequestInit): Promise<Response> => fetch(`${stack().url}/v1/shop/${path}`, init);

async function order(body: object = {}): Promise<string> {
  const row = randomUUID();
  const put = { method: 'PUT', body: JSON.stringify(body) };
  await expect.poll(async () => (await called(`cells/${row}/ORDER/1`, put)).status, OUTPUT).toBeLessThan(202);
  return row;
}

async function confirmationOf(row: string): Promise<string> {
  const read = (): Promise<Response> => called(`cells/${row}/CONFIRMATION/1`);
  await expect.poll(async () => (await read()).status, OUTPUT).toBe(200);
  return Object(await (await read()).json()).body.text;
}

const lineWith = (what: RegExp): Promise<string> => vi.waitUntil(() => lines.find((line) => what.test(line)), OUTPUT);
const outputOf = (file: string, what: RegExp): Promise<string> =>
  lineWith(new RegExp(`changed .*${file}.*${what.source}`, 'u'));

const pids = (): readonly number[] =>
  stack()
    .groups.status()
    .map(({ pid }) => pid);

describe('a stack that is watched', () => {
  it('has new calls answered by what a function is now, and by what it imports', async () => {
    expect(await confirmationOf(await order())).toBe('thanks');
    const servers = pids();
    save('lib/text.ts', "export const TEXT = 'many thanks';\n");
    expect(await outputOf('lib/text.ts', /reloaded/u)).toMatch(
      /^changed \S*lib\/text\.ts: trigger-shop-confirm reloaded \(\d+\.\d s\)$/u,
    );
    expect(await confirmationOf(await order())).toBe('many thanks');
    expect(pids()).toEqual(servers);
    expect(
      stack()
        .functions.modules()
        .filter((path) => !readFileSync(path, 'utf8')),
    ).toEqual([]);
  });

  it('keeps the previous version when a function cannot be bundled, and says where, until it can', async () => {
    save('functions/confirm.ts', confirming("import { TEXT } from '../lib/gone.ts';"));
    await outputOf('functions/confirm.ts', /not reloaded, the previous version keeps running/u);
    const complaint = await lineWith(/lib\/gone\.ts/u);
    expect(complaint).toMatch(/Could not resolve "\.\.\/lib\/gone\.ts"\s+\S*functions\/confirm\.ts:1:/u);
    expect(complaint).not.toMatch(/^\s+at /mu);
    expect(await confirmationOf(await order())).toBe('many thanks');

    // The missing module appears.
    save('lib/gone.ts', "export const TEXT = 'thanks again';\n");
    await outputOf('lib/gone.ts', /trigger-shop-confirm reloaded/u);
    expect(await confirmationOf(await order())).toBe('thanks again');
  });

  it('makes an index that is added, and answers queries by it', async () => {
    const shown = await (await called('indexes')).json();
    expect(Object(shown).indexes).toEqual([]);
    save('datastores/shop/indexes/by_customer.yaml', index('by_customer', 'customer'));
    expect(await outputOf('by_customer.yaml', /reloaded/u)).toMatch(/index by_customer of shop added/u);
    const row = await order({ customer: 'c-1' });
    const found = async (): Promise<unknown> => {
      const { entries = [] } = Object(await (await called('indexes/by_customer?customer=c-1')).json());
      return entries.map((entry: object) => Object(entry).row_key);
    };
    await expect.poll(found, OUTPUT).toEqual([row]);
  });

  it('goes on with the definitions before when YAML is wrong, and names file and line', async () => {
    save('datastores/shop/datastore.yaml', 'datastore: shop\nshards: four\n');
    await outputOf('datastore.yaml', /not reloaded/u);
    await lineWith(/shop\/datastore\.yaml:2: /u);
    expect((await called('shards')).status).toBe(200);
    save('datastores/shop/datastore.yaml', 'datastore: shop\nshards: 3\n');
    await lineWith(/shop\/datastore\.yaml:2: shards: wanted 4.*got 3/u);
    save('datastores/shop/datastore.yaml', FILES['datastores/shop/datastore.yaml']);
    await outputOf('datastore.yaml', /nothing to reload/u);
  });

  it('makes the queue of a trigger that is added, and deletes that of one that is gone', async () => {
    save(
      'datastores/shop/triggers/ship.yaml',
      "trigger: ship\ndatastore: shop\ncolumns: '*'\nfunction: functions/ship.ts\n",
    );
    await outputOf('ship.yaml', /not reloaded/u);
    save('functions/ship.ts', "export const handler = () => {};\nthrow new Error('no ships');\n");
    await outputOf('functions/ship.ts', /trigger ship of shop added/u);
    await lineWith(/^trigger ship of shop fails for every cell: .*no ships/u);
    const queues = (): readonly (string | undefined)[] =>
      stack()
        .queues()
        .map(({ calls }) => calls);
    expect(queues()).toContain('trigger-shop-ship');
    rmSync(join(folder.path, 'datastores/shop/triggers/ship.yaml'));
    await outputOf('ship.yaml', /trigger ship of shop gone/u);
    expect(queues()).not.toContain('trigger-shop-ship');
  });

  it('takes over what was saved before it was watched, as while it starts', async () => {
    await watched.close();
    save('functions/confirm.ts', confirming("const TEXT = 'saved early';"));
    const since = statSync(join(folder.path, 'functions/confirm.ts')).mtimeMs;
    save('datastores/shop/indexes/by_table.yaml', index('by_table', 'seat'));
    const before = lines.length;
    await watch(since);
    await expect.poll(() => lines.slice(before).join('\n'), OUTPUT).toMatch(/confirm\.ts.*reloaded/u);
    expect(lines.slice(before).join('\n')).toContain('by_table of shop added');
    expect(await confirmationOf(await order())).toBe('saved early');
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { writeFiles } from '../support/write-files.ts';
import { runCommand } from './run-command.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder[Symbol.dispose]());

const SOUND = { 'shop/datastore.yaml': 'datastore: shop\nshards: 16\n' };

async function check(files: Readonly<Record<string, string>>) {
  writeFiles(folder.path, files);
  const ran = await runCommand(['check', folder.path], { folder: PROJECT_ROOT });
  return { ...ran, stderr: ran.stderr.replaceAll(`${folder.path}/`, '') };
}

describe('check', () => {
  it('says what sound definitions are', async () => {
    expect(await check({ ...SOUND, 'README.md': 'of this folder' })).toMatchObject({
      code: 0,
      stdout: `${folder.path} is sound: 1 datastore, 0 indexes, 0 triggers\n`,
      stderr: '',
    });
  });

  it('names every problem with its file and line, and what lies where nothing reads it', async () => {
    const index = 'table: by_rider\ndatastore: shop\ncolumn_defs: []\n';
    const { code, stdout, stderr } = await check({
      'shop/datastore.yaml': 'datastore: shop\nshards: many\n',
      'shop/index/by_rider.yaml': index,
      'shop/confirm.yaml': 'trigger: confirm\ndatastore: shop\ncolumns: "*"\n',
      'shop/triggers/send.yaml': "trigger: send\ndatastore: shop\ncolumns: '*'\nfunction: functions/not-there.ts\n",
      'other.yaml': 'datastore: other\nshards: 1\n',
    });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr.split('\n').slice(0, -2).sort()).toEqual([
      'other.yaml: wanted a folder for each datastore, got a file',
      'shop/confirm.yaml: wanted datastore.yaml and the folders indexes and triggers, got a file',
      'shop/datastore.yaml:2: shards: wanted a whole number from 1 to 65536, got "many"',
      'shop/index: wanted datastore.yaml and the folders indexes and triggers, got a folder',
      expect.stringMatching(/^shop\/triggers\/send\.yaml:4: function: wanted a file of the project/u),
    ]);
    expect(stderr).toMatch(/5 problems in /u);
  });

  it('says what will be regretted, and lets it pass', async () => {
    const { code, stderr } = await check({
      ...SOUND,
      'shop/indexes/by_city.yaml':
        'table: by_city\ndatastore: shop\ncolumn_defs:\n  - column_key: BASE\n    fields:\n      - { field: city, type: string }\n',
    });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^shop\/indexes\/by_city\.yaml:6: .*\(warning\)$/mu);
  });

  it('knows when there is no such folder, and nothing in it', async () => {
    expect(await check({})).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('wanted at least one datastore'),
    });
    expect(await runCommand(['check', 'not-there'], { folder: folder.path })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not-there: wanted a folder of datastores, got nothing'),
    });
  });
});

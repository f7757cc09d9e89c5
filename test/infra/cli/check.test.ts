import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { writeFiles } from '../support/write-files.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder[Symbol.dispose]());

const SOUND = { 'shop/datastore.yaml': 'datastore: shop\nshards: 16\n' };

function check(files: Readonly<Record<string, string>>) {
  writeFiles(folder.path, files);
  const run = spawnSync(process.execPath, [join(PROJECT_ROOT, 'infra/cli/command.ts'), 'check', folder.path], {
    encoding: 'utf8',
    cwd: PROJECT_ROOT,
  });
  return { ...run, stderr: run.stderr.replaceAll(`${folder.path}/`, '') };
}

describe('check', () => {
  it('says what sound definitions are', () => {
    expect(check({ ...SOUND, 'README.md': 'of this folder' })).toMatchObject({
      status: 0,
      stdout: `${folder.path} is sound: 1 datastore, 0 indexes, 0 triggers\n`,
      stderr: '',
    });
  });

  it('names every problem with its file and line, and what lies where nothing reads it', () => {
    const index = 'table: by_rider\ndatastore: shop\ncolumn_defs: []\n';
    const { status, stdout, stderr } = check({
      'shop/datastore.yaml': 'datastore: shop\nshards: many\n',
      'shop/index/by_rider.yaml': index,
      'shop/confirm.yaml': 'trigger: confirm\ndatastore: shop\ncolumns: "*"\n',
      'shop/triggers/send.yaml': "trigger: send\ndatastore: shop\ncolumns: '*'\nfunction: functions/not-there.ts\n",
      'other.yaml': 'datastore: other\nshards: 1\n',
    });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr.split('\n').slice(0, -2).sort()).toEqual([
      'other.yaml: wanted a folder for each datastore, got a file: did you mean other/datastore.yaml?',
      expect.stringMatching(/^shop\/confirm\.yaml: .*did you mean triggers\/confirm\.yaml\?$/u),
      'shop/datastore.yaml:2: shards: wanted a whole number from 1 to 65536, got "many"',
      expect.stringMatching(/^shop\/index: .*did you mean indexes\/\?$/u),
      expect.stringMatching(/^shop\/triggers\/send\.yaml:4: function: wanted a file of the project/u),
    ]);
    expect(stderr).toMatch(/5 problems in /u);
  });

  it('says what will be regretted, and lets it pass', () => {
    const { status, stderr } = check({
      ...SOUND,
      'shop/indexes/by_city.yaml':
        'table: by_city\ndatastore: shop\ncolumn_defs:\n  - column_key: BASE\n    fields:\n      - { field: city, type: string }\n',
    });
    expect(status).toBe(0);
    expect(stderr).toMatch(/^shop\/indexes\/by_city\.yaml:6: .*\(warning\)$/mu);
  });

  it('knows when there is no such folder, and nothing in it', () => {
    expect(check({})).toMatchObject({ status: 2, stderr: expect.stringContaining('wanted at least one datastore') });
    expect(() =>
      execFileSync(process.execPath, ['infra/cli/command.ts', 'check', 'not-there'], {
        cwd: PROJECT_ROOT,
        stdio: 'pipe',
      }),
    ).toThrow(/not-there: wanted a folder of datastores, got nothing/u);
  });
});

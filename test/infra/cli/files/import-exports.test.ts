import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Manifest } from '../../../../shared/files/manifest.ts';
import { checkExport } from '../../../../infra/cli/files/export/check-export.ts';
import { exportCells } from '../../../../shared/files/export-cells.ts';
import { folderTarget } from '../../../../infra/cli/files/export/folder-target.ts';
import { referenceStore } from '../../../support/reference-store.ts';
import { importTests, SHARDS, storedIn } from './import-file.ts';

const scene = importTests();
const { importFile, some } = scene;

/** An export in two parts, not packed; returns its folder. */
async function exported(): Promise<string> {
  const from = { ...scene.datastore, listIndexes: async () => ({ indexes: [] }) };
  const place = `${scene.file}-export`;
  for (let part = 0; part < 3; part += 1) {
    for (const cell of some(200).map((one) => ({ ...one, column_name: `PART${part}` })))
      await scene.datastore.put(cell);
    await exportCells(from, { target: folderTarget(place), format: 'ndjson', compression: 'none', sinceLast: true });
  }
  return place;
}

test('an export of which a part, a file, or the end of one is gone is refused before anything is stored', async () => {
  const place = await exported();
  const path = join(place, 'part-0002/0001.ndjson');
  const good = readFileSync(path);
  const client = referenceStore('readings', SHARDS);
  const refused = async (what: string): Promise<void> => {
    await expect(importFile(place, { client })).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining(what),
    });
    expect(await storedIn(client)).toBe(0);
  };
  writeFileSync(path, good.subarray(0, good.lastIndexOf(10, good.length - 2) + 1));
  await refused(`0001.ndjson: wanted ${good.length} bytes`);
  rmSync(path);
  await refused('got no file');
  rmSync(join(place, 'part-0002'), { recursive: true });
  await refused('part-0003: shard 0: wanted cells after');
});

test('an export of which a file has another content is told at the end, and never called complete', async () => {
  const place = await exported();
  const path = join(place, 'part-0002/0001.ndjson');
  writeFileSync(path, readFileSync(path, 'utf8').replace('kWh', 'MWh'));
  const client = referenceStore('readings', SHARDS);
  for (let time = 0; time < 2; time += 1) {
    await expect(importFile(place, { client })).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('0001.ndjson: wanted the SHA-256'),
    });
    expect(await storedIn(client)).toBe(600);
  }
});

test('an export that is whole is imported whole', async () => {
  const client = referenceStore('readings', SHARDS);
  expect(await importFile(await exported(), { client })).toMatchObject({ complete: true, counts: { stored: 600 } });
});

test.each(['../../secret', '/etc/passwd', '..', 'a/0001.ndjson', '0001.txt', '..\\0001.ndjson'])(
  'an import reads no file that is not of the export: a manifest that names %s is refused',
  async (name) => {
    const place = await exported();
    const secret = join(scene.folder, 'secret');
    writeFileSync(secret, 'PRIVATE KEY\n');
    const path = join(place, 'part-0001/_manifest.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
    for (const { file } of manifest.shards) if (file) Object.assign(file, { name, bytes: statSync(secret).size });
    writeFileSync(path, JSON.stringify(manifest));
    await expect(importFile(place)).rejects.toMatchObject({ code: 'bad_manifest' });
    await expect(checkExport(folderTarget(place))).rejects.toMatchObject({ code: 'bad_manifest' });
    expect(existsSync(scene.rejects(place))).toBe(false);
  },
);

test('an import reads no file that a link of the export leads to', async () => {
  const place = await exported();
  const [path, secret] = [join(place, 'part-0001/0001.ndjson'), join(scene.folder, 'linked')];
  renameSync(path, secret);
  symlinkSync(secret, path);
  await expect(importFile(place)).rejects.toMatchObject({
    code: 'bad_input',
    message: expect.stringContaining('0001.ndjson: wanted a file'),
  });
});

test('exports, rejects and journals are for their owner alone', async () => {
  const place = await exported();
  await exportCells(
    { ...scene.datastore, listIndexes: async () => ({ indexes: [] }) },
    { target: folderTarget(`${place}-p`), format: 'parquet' },
  );
  scene.write(['no cell', ...scene.some(3)]);
  await importFile();
  const made = [place, `${place}-p`, scene.rejects(), `${scene.file}.import-journal`].flatMap((path) =>
    statSync(path).isFile()
      ? [path]
      : [path, ...readdirSync(path, { recursive: true }).map((name) => join(path, String(name)))],
  );
  const modes = made.map((path) => [statSync(path).isFile() ? 'file' : 'folder', statSync(path).mode & 0o777]);
  expect(modes.filter(([kind, mode]) => mode !== (kind === 'file' ? 0o600 : 0o700))).toEqual([]);
  expect(modes.length).toBeGreaterThan(15);
});

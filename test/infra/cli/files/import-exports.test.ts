import { randomUUID } from 'node:crypto';
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
import { shardOf } from '../../../../shared/address.ts';
import type { RowTransaction } from '../../../../shared/cell.ts';
import type { Datastore } from '../../../../shared/contract/datastore.ts';
import type { Manifest } from '../../../../shared/files/manifest.ts';
import { checkExport } from '../../../../infra/cli/files/export/check-export.ts';
import { exportCells } from '../../../../shared/files/export-cells.ts';
import { folderTarget } from '../../../../infra/cli/files/export/folder-target.ts';
import { referenceStore } from '../../../support/reference-store.ts';
import { openInput } from '../../../../infra/cli/files/import/open-input.ts';
import { START } from '../../../../infra/cli/files/import/source.ts';
import { importTests, SHARDS, storedIn } from './import-file.ts';

const scene = importTests();
const { importFile, some } = scene;
const [FIRST, SECOND] = [randomUUID(), randomUUID()];

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

test.each([undefined, 'new'] as const)('transactions of an export are written whole, times: %s', async (times) => {
  const cells = ['ORDER', 'OUTBOX', 'AUDIT'].map((column_name) => ({
    column_name,
    ref_key: 1,
    body: 'x'.repeat(9000),
  }));
  const orders = Array.from({ length: 50 }, () => ({ row_key: randomUUID(), cells }));
  for (const order of orders) await scene.datastore.transact(order);
  const client = referenceStore('readings', SHARDS);
  const [first, second] = orders as unknown as [RowTransaction, RowTransaction];
  await client.put({ row_key: first.row_key, column_name: 'OUTBOX', ref_key: 1, body: 'another' });
  let tries = 0;
  const busy: Datastore['transact'] = async (given) => {
    tries += 1;
    if (tries % 2 === 0) return client.transact(given);
    return { outcome: 'unavailable', shard: 0, reason: 'a test' };
  };
  const place = await exported();
  expect(await importFile(place, { client: { ...client, transact: busy }, times })).toMatchObject({
    complete: true,
    counts: { stored: 747, rejected: 3 },
  });
  expect((await client.row(first.row_key)).cells).toMatchObject([{ body: 'another' }]);
  const reasons = scene.rejected(place).map(({ reason }) => reason);
  const conflict = `Another body is at OUTBOX, 1 of ${first.row_key}; nothing was changed`;
  expect(reasons).toEqual([conflict, conflict, conflict]);
  const timesOf = async (datastore: Datastore): Promise<readonly unknown[]> =>
    (await datastore.row(second.row_key)).cells.map(({ created_at, transaction }) => [
      times ?? created_at,
      transaction,
    ]);
  expect(await timesOf(client)).toEqual(await timesOf(scene.datastore));
});

test('a transaction is in one piece of a source, whatever its bytes', async () => {
  const body = 'x'.repeat(9000);
  scene.write(
    Array.from({ length: 150 }, (_, ref_key) => {
      const transaction = { size: 3, position: ref_key % 3 };
      return { row_key: FIRST, column_name: 'ORDER', ref_key, body, transaction };
    }),
  );
  const { sources } = await openInput(scene.file, {});
  const lasts: unknown[] = [];
  for (const source of sources)
    for await (const items of source.read(START)) lasts.push(items.at(-1)?.cell?.transaction?.position);
  expect(lasts.length).toBeGreaterThan(1);
  expect(new Set(lasts)).toEqual(new Set([2]));
});

test.each([0, 1])(
  'a limit of %i rejects within a transaction ends the import after it, to continue',
  async (maxRejects) => {
    const { datastore } = scene;
    const placed = (row_key: string, body: unknown) =>
      ['AUDIT', 'ORDER', 'OUTBOX'].map((column_name, position) => {
        return { row_key, column_name, ref_key: 1, body, transaction: { size: 3, position } };
      });
    scene.write([...placed(SECOND, 2), ...placed(FIRST, 1)]);
    await datastore.put({ row_key: FIRST, column_name: 'ORDER', ref_key: 1, body: 'another' });
    // A cell that is there counts for the datastore's size before the import alone.
    await datastore.put({ row_key: SECOND, column_name: 'ORDER', ref_key: 1, body: 2 });
    await expect(importFile(scene.file, { maxRejects })).rejects.toMatchObject({ code: 'too_many_rejects' });
    expect(await importFile(scene.file, { maxRejects: 3 })).toMatchObject({ complete: true, counts: { rejected: 3 } });
    expect(scene.rejected()).toHaveLength(3);
    expect((await datastore.row(FIRST)).cells).toMatchObject([{ body: 'another' }]);
    expect((await datastore.row(SECOND)).cells).toHaveLength(3);
  },
);

test('cells of a transaction of which some are missing are written alone, and a wrong place is rejected', async () => {
  const cells = some(6, 1).map((cell, position) => ({ ...cell, transaction: { size: 3, position: position % 3 } }));
  scene.write([
    ...cells.slice(1, 3),
    ...[26, -1, 'x', null].map((size) => ({ ...cells[0], transaction: { size, position: 0 } })),
    ...cells.slice(3),
  ]);
  await importFile();
  expect(scene.rejected().map(({ field }) => field)).toEqual(Array(4).fill('transaction'));
  const [log] = await scene.datastore.log([{ shard: shardOf(cells[0]?.row_key ?? '', SHARDS), after: 0 }]);
  expect(log && 'cells' in log && log.cells.map(({ transaction }) => transaction?.position)).toEqual([
    undefined,
    undefined,
    0,
    1,
    2,
  ]);
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

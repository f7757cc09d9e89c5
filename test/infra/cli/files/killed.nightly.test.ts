import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { schemalessClient } from '../../../../shared/client/client.ts';
import { CommandProcess } from '../../../support/files/command-process.ts';
import { allCells, exportKilled, importKilled } from '../../../support/files/kill-and-resume.ts';
import { readings, writeReadings } from '../../../support/files/readings.ts';
import { wholeStack } from '../../../support/whole-stack.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';

const CELLS = 20_000;
const KILLS = 5;
const OPTIONS = { cells: CELLS, rows: 2000, seed: 'killed' };
const folder = folderOfTests();
const file = join(folder.path, 'readings.ndjson');
const exported = join(folder.path, 'exported');
const stack = wholeStack();

beforeAll(() => writeReadings(file, OPTIONS));

test('an import that is killed five times stores each line once, and those of a row in their order', async () => {
  const { kills, last } = await importKilled(
    { url: stack().url, datastore: 'readings' },
    { path: file, cells: CELLS, kills: KILLS },
  );

  expect(last).toMatchObject({ code: 0 });
  expect(JSON.parse(last.stdout)).toMatchObject({ complete: true, counts: { buffered: 0, rejected: 0 } });
  expect(kills).toBe(KILLS);
  expect(await rowsOf('readings')).toEqual(rowsOfFile());
}, 600_000);

test('an export that is killed, and imported elsewhere, is the same in rows, order, added ids and times', async () => {
  const { kills, last } = await exportKilled(
    { url: stack().url, datastore: 'readings' },
    { folder: exported, kills: 3 },
  );
  expect(last).toMatchObject({ code: 0 });
  expect(kills).toBeGreaterThanOrEqual(1);

  const checked = await new CommandProcess(stack().url, 'readings', ['export', exported, '--check']).ended;
  expect(JSON.parse(checked.stdout)).toMatchObject({ cells: CELLS, faults: [] });

  const imported = await new CommandProcess(stack().url, 'copies', ['import', exported]).ended;
  expect(imported).toMatchObject({ code: 0 });
  expect(JSON.parse(imported.stdout)).toMatchObject({ counts: { stored: CELLS } });
  expect(await cellsOf('copies')).toEqual(await cellsOf('readings'));
}, 600_000);

/** The bodies of each row in the order in which they are in their file. */
function rowsOfFile(): ReadonlyMap<string, readonly unknown[]> {
  const rows = new Map<string, unknown[]>();
  for (const { row_key, ref_key, body } of readings(OPTIONS)) add(rows, row_key, { ref_key, body });
  return rows;
}

/** The bodies of each row in the order of the logs. */
async function rowsOf(datastore: string): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const rows = new Map<string, unknown[]>();
  for await (const { row_key, ref_key, body } of allCells(schemalessClient({ url: stack().url, datastore })))
    add(rows, row_key, { ref_key, body });
  return rows;
}

function add(rows: Map<string, unknown[]>, row: string, value: unknown): void {
  const values = rows.get(row);
  if (values) values.push(value);
  else rows.set(row, [value]);
}

/** Every cell with its place and its time. */
async function cellsOf(datastore: string): Promise<readonly unknown[]> {
  const cells: unknown[] = [];
  const client = schemalessClient({ url: stack().url, datastore });
  for await (const cell of allCells(client)) cells.push(cell);
  return cells;
}

import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Cell, NewCell } from '../../../../shared/cell.ts';
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
  expect(byRow(await cellsOf('readings'))).toEqual(byRow(readings(OPTIONS)));
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

/** Every cell in the order of the logs, with its place and its time. */
const cellsOf = (datastore: string): Promise<Cell[]> =>
  Array.fromAsync(allCells(schemalessClient({ url: stack().url, datastore })));

/** The bodies of each row, in the order of the cells. */
const byRow = (cells: Iterable<NewCell>): ReadonlyMap<string, readonly object[]> =>
  Map.groupBy(
    [...cells].map(({ row_key, ref_key, body }) => ({ row_key, ref_key, body })),
    ({ row_key }) => row_key,
  );

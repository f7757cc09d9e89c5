import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../infra/support/temporary-folder.ts';
import { startsInLog } from './handler-starts.ts';

const line = (row_key: string, ref_key: number, started_at: number): string =>
  `2026-01-31T08:00:00.000Z trigger-trips-bill_rider {"level":"INFO","message":"billing","row_key":"${row_key}","ref_key":${ref_key},"started_at":${started_at}}\n`;

test('the first start of each cell is taken from what is logged from now on', async () => {
  using folder = temporaryFolder();
  const log = join(folder.path, 'functions.log');
  writeFileSync(log, line('before', 1, 1));
  const starts = await startsInLog(log);
  appendFileSync(
    log,
    `${line('a', 1, 1000)}2026-01-31T08:00:00.000Z write-cells {"message":"stored"}\nno JSON {\n${line('a', 2, 2000)}${line('b', 1, 3000).slice(0, 60)}`,
  );
  await starts.read();
  expect([
    starts.startOf({ row_key: 'a', ref_key: 1 }),
    starts.startOf({ row_key: 'a', ref_key: 2 }),
    starts.startOf({ row_key: 'b', ref_key: 1 }),
  ]).toEqual([1000, 2000, undefined]);
  // The rest of a line that was half written, and a second start of the same cell.
  appendFileSync(log, `${line('b', 1, 3000).slice(60)}${line('a', 1, 4000)}`);
  await starts.read();
  expect([
    starts.startOf({ row_key: 'b', ref_key: 1 }),
    starts.startOf({ row_key: 'a', ref_key: 1 }),
    starts.startOf({ row_key: 'before', ref_key: 1 }),
  ]).toEqual([3000, 1000, undefined]);
});

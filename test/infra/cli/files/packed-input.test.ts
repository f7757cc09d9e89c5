import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import { expect, test } from 'vitest';
import { HAS_ZSTD } from '../../../../shared/files/compression.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';
import { itemsIn } from './import-file.ts';

const folder = folderOfTests();

/** The numbers of the lines that are read of a file of these bytes. */
async function linesRead(name: string, bytes: Uint8Array): Promise<readonly number[]> {
  const path = join(folder.path, name);
  writeFileSync(path, bytes);
  return (await itemsIn(path, { defaultRefKey: 'line' })).map(({ line }) => line);
}

function linesFrom(first: number, count: number): Buffer {
  const line = (number: number): string => `{"number": ${number}, "noise": "${Math.sin(number)}"}\n`;
  return Buffer.from(Array.from({ length: count }, (_, position) => line(first + position)).join(''));
}

const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, position) => position + 1);

test.runIf(HAS_ZSTD)('each frame of a file of zstd is read, whether it ends within a piece or with it', async () => {
  const frames = (count: number, lines: number): Buffer =>
    Buffer.concat(upTo(count).map((position) => zlib.zstdCompressSync(linesFrom((position - 1) * lines, lines))));
  expect(await linesRead('small.zst', frames(5, 2000))).toEqual(upTo(10_000));
  // Longer than a piece of the file, each.
  expect(await linesRead('large.zst', frames(3, 20_000))).toHaveLength(60_000);
  expect(
    await linesRead('bomb.zst', zlib.zstdCompressSync(Buffer.alloc(20_000_000, `${' '.repeat(997)}\n{}`))),
  ).toHaveLength(20_001);
});

test.runIf(HAS_ZSTD)('a file of zstd that was cut, or has something else behind a frame, is refused', async () => {
  const [one, two] = [0, 2000].map((first) => zlib.zstdCompressSync(linesFrom(first, 2000)));
  const whole = Buffer.concat([one ?? Buffer.alloc(0), two ?? Buffer.alloc(0)]);
  for (const bytes of [whole.subarray(0, -5), Buffer.concat([whole, Buffer.from('what is this?')])])
    await expect(linesRead('cut.zst', bytes)).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('cut.zst'),
    });
});

test('a file of gzip that was cut is refused by name, and each member of one is read', async () => {
  const members = [0, 2000].map((first) => zlib.gzipSync(linesFrom(first, 2000)));
  const whole = Buffer.concat(members);
  expect(await linesRead('members.gz', whole)).toEqual(upTo(4000));
  await expect(linesRead('cut.gz', whole.subarray(0, -20))).rejects.toMatchObject({
    code: 'bad_input',
    message: expect.stringContaining('cut.gz'),
  });
});

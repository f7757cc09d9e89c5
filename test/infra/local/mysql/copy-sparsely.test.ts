import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { copySparsely } from '../../../../infra/local/mysql/blank-data.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const MIB = 1024 * 1024;

it('a copy is the same, byte for byte, and takes no room for blocks of zeros', async () => {
  using folder = temporaryFolder();
  const [from, to] = [join(folder.path, 'from'), join(folder.path, 'to')];
  const files: Readonly<Record<string, Buffer>> = {
    empty: Buffer.alloc(0),
    small: Buffer.from('text'),
    zeros: Buffer.alloc(8 * MIB + 5),
    'deep/mixed': Buffer.alloc(5 * MIB + 4097),
  };
  const mixed = files['deep/mixed'] ?? Buffer.alloc(0);
  // A lone byte, both sides of a chunk's end, a run of blocks, and the very last byte.
  for (const at of [5000, MIB - 1, MIB, 5 * MIB + 4096]) mixed[at] = 1;
  mixed.fill(7, 2 * MIB + 4096, 2 * MIB + 3 * 4096);
  mkdirSync(join(from, 'deep'), { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(from, name), content);

  await copySparsely(from, to);
  for (const [name, content] of Object.entries(files))
    expect(readFileSync(join(to, name)).equals(content), name).toBe(true);
  const taken = (name: string) => statSync(join(to, name)).blocks * 512;
  expect(taken('zeros')).toBe(0);
  expect(taken('deep/mixed')).toBeLessThan(100_000);
  expect(statSync(join(from, 'zeros')).blocks * 512).toBeGreaterThan(8 * MIB);
});

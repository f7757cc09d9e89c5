import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockFolder } from '../../../../infra/local/stack/folder-lock.ts';
import { withFolder } from './with-shard-groups.ts';

describe('lockFolder', () => {
  it('keeps a second holder out and says who the first is, until it is released', async () => {
    await withFolder(async (folder) => {
      const lock = lockFolder(folder);
      expect(() => lockFolder(folder)).toThrow(
        `${folder} is in use by process ${process.pid}: stop it first, or choose another folder`,
      );
      lock.release();
      lockFolder(folder).release();
    });
  });

  it('takes over from a process that is gone, and from a later one with its id', async () => {
    await withFolder(async (folder) => {
      for (const left of [
        JSON.stringify({ pid: 4_000_000, startTime: '1' }),
        JSON.stringify({ pid: process.pid, startTime: '1' }),
        'half a li',
      ]) {
        writeFileSync(join(folder, 'lock'), left);
        const lock = lockFolder(folder);
        expect(() => lockFolder(folder)).toThrow(`is in use by process ${process.pid}`);
        lock.release();
      }
    });
  });
});

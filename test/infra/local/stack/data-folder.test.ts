import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dataFolder, stackId } from '../../../../infra/local/folder/data-folder.ts';
import { lockFolder } from '../../../../infra/local/folder/folder-lock.ts';
import { groupCount, rememberGroupCount } from '../../../../infra/local/stack/group-count.ts';
import { readNumber, writeNumber } from '../../../../infra/local/folder/state-file.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

function haveMade(root: string, count: number): void {
  const groups = Object.fromEntries(Array.from({ length: count }, (_, at) => [`group-${at + 1}`, { nodes: ['a'] }]));
  mkdirSync(join(root, 'groups'), { recursive: true });
  writeFileSync(join(root, 'groups', 'groups.json'), JSON.stringify({ groups }));
}

describe('a data folder', () => {
  it('gets as many groups as configured, else those it has, else those of a first start', () => {
    using temporary = temporaryFolder();
    const folder = dataFolder(temporary.path);
    expect([groupCount(folder, undefined, 3), groupCount(folder, 5, 3)]).toEqual([3, 5]);
    haveMade(folder.root, 4);
    expect([groupCount(folder, undefined, 3), groupCount(folder, 6, 3)]).toEqual([4, 6]);
  });

  it('completes a first start that was cut off, and of groups that were being added those that were made', () => {
    using temporary = temporaryFolder();
    const folder = dataFolder(temporary.path);
    rememberGroupCount(folder, 3);
    // It made no server: another number may be wanted next time.
    expect(groupCount(folder, undefined, 2)).toBe(2);
    haveMade(folder.root, 1);
    expect(groupCount(folder, undefined, 2)).toBe(3);
    haveMade(folder.root, 3);
    rememberGroupCount(folder, 20);
    expect(groupCount(folder, undefined, 2)).toBe(3);
    haveMade(folder.root, 4);
    expect(groupCount(folder, undefined, 2)).toBe(4);
  });

  it('keeps the numbers of its last start', () => {
    using temporary = temporaryFolder();
    const { mostShards } = dataFolder(temporary.path);
    expect(readNumber(mostShards)).toBeUndefined();
    writeNumber(mostShards, 1000);
    expect(readNumber(mostShards)).toBe(1000);
  });

  it('has an id that stays, and is not that of another', () => {
    using folder = temporaryFolder();
    using other = temporaryFolder();
    const id = stackId({ root: folder.path });
    expect(id).toMatch(/^[0-9a-f]{8}$/u);
    expect(stackId({ root: folder.path })).toBe(id);
    expect(stackId({ root: other.path })).not.toBe(id);
  });

  it('has one owner, which is named to the second one, and is taken over from a process that is gone', () => {
    using folder = temporaryFolder();
    const inUse = `${folder.path} is in use by process ${process.pid}: stop it first, or choose another folder`;
    const lock = lockFolder(folder.path);
    expect(() => lockFolder(folder.path)).toThrow(inUse);
    lock.release();
    const gone = { pid: 4_000_000, startTime: '1' };
    // Gone, a later process with its id, cut off while it was written.
    for (const left of [JSON.stringify(gone), JSON.stringify({ ...gone, pid: process.pid }), 'half a li']) {
      writeFileSync(join(folder.path, 'lock'), left);
      const next = lockFolder(folder.path);
      expect(() => lockFolder(folder.path)).toThrow(inUse);
      next.release();
    }
  });
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dataFolder } from '../../../../infra/local/stack/data-folder.ts';
import { groupCount, rememberGroupCount } from '../../../../infra/local/stack/group-count.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

function haveMade(root: string, count: number): void {
  const groups = Object.fromEntries(Array.from({ length: count }, (_, at) => [`group-${at + 1}`, { nodes: ['a'] }]));
  mkdirSync(join(root, 'groups'), { recursive: true });
  writeFileSync(join(root, 'groups', 'groups.json'), JSON.stringify({ groups }));
}

it('a new folder gets what it is to have at first, one that has servers keeps their groups, and who says a number gets it', () => {
  using temporary = temporaryFolder();
  const folder = dataFolder(temporary.path);
  expect(groupCount(folder, undefined, 3)).toBe(3);
  expect(groupCount(folder, 5, 3)).toBe(5);
  haveMade(folder.root, 4);
  expect(groupCount(folder, undefined, 3)).toBe(4);
  expect(groupCount(folder, 6, 3)).toBe(6);
});

it('a first start that was cut off is gone on with; one that added groups, and was, adds those that it has made', () => {
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

import { expect, it } from 'vitest';
import { wholeStack } from '../../support/whole-stack.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { installedExample } from './support/installed-example.ts';

const { run, shown } = installedExample('hotel-rates', folderOfTests());
const stack = wholeStack();

it('a program that installed the package prints what its page says, also beside another one', async () => {
  const printed = await Promise.all([1, 2].map(() => run('sell-rooms.ts', stack().url)));
  expect(printed).toEqual([shown(), shown()]);
});

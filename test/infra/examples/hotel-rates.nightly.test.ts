import { join } from 'node:path';
import { expect, it } from 'vitest';
import { localStack } from '../../support/local-stack.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { installedExample } from './support/installed-example.ts';

const folder = temporaryFolder();
const { example, run, shown } = installedExample('hotel-rates', folder);
const stack = localStack(folder, { datastores: join(example, 'datastores') });

it('a program that installed the package prints what its page says, also beside another one', async () => {
  const printed = await Promise.all([1, 2].map(() => run('sell-rooms.ts', stack().url)));
  expect(printed).toEqual([shown(), shown()]);
});

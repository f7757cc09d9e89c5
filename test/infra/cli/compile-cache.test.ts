import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { ownFolder } from '../../../infra/cli/compile-cache.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';

const folder = folderOfTests();
const baseOf = (name: string): string => join(folder.path, name);
const compiledIn = (base: string): string => join(base, 'schemaless', 'compiled');

describe('what a command compiled is kept', () => {
  it('in a folder of its user alone', () => {
    const base = baseOf('new');
    expect(ownFolder(base)).toBe(compiledIn(base));
    expect(ownFolder(base)).toBe(compiledIn(base));
  });

  it('nowhere where others could put something', () => {
    const base = baseOf('open');
    mkdirSync(compiledIn(base), { recursive: true });
    chmodSync(compiledIn(base), 0o777);
    expect(ownFolder(base)).toBeUndefined();
  });

  it('nowhere where nothing can be written', () => {
    const base = baseOf('file');
    writeFileSync(base, '');
    expect(ownFolder(base)).toBeUndefined();
  });

  it.runIf(process.getuid?.() === 0)('nowhere where the folder is of another user', () => {
    const base = baseOf('foreign');
    mkdirSync(compiledIn(base), { recursive: true, mode: 0o700 });
    chownSync(compiledIn(base), 65534, 65534);
    expect(ownFolder(base)).toBeUndefined();
  });

  it('there by a command, and not among temporary files', () => {
    const [home, temporary] = [baseOf('home'), baseOf('temporary')];
    mkdirSync(temporary);
    const run = spawnSync(process.execPath, [join(PROJECT_ROOT, 'infra/cli/command.ts'), '--version'], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: home, TMPDIR: temporary },
    });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(existsSync(compiledIn(join(home, '.cache')))).toBe(true);
    expect(existsSync(join(temporary, 'node-compile-cache'))).toBe(false);
  });
});

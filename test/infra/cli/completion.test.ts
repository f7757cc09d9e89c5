import { describe, expect, it } from 'vitest';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { runCommand, type Ran } from './run-command.ts';

const folder = folderOfTests().path;
const run = (...parameters: string[]): Promise<Ran> => runCommand(parameters, { folder });

describe('completion', () => {
  it('answers with commands, flags and their values', async () => {
    const complete = async (...words: string[]): Promise<readonly string[]> =>
      (await run('complete', '--', ...words)).stdout.split('\n').map((line) => line.split('\t')[0] ?? '');
    expect(await complete('verify')).toContain('verify-index');
    expect(await complete('triggers', '')).toEqual(expect.arrayContaining(['list', 'pause', 'rewind']));
    expect(await complete('move', '')).toEqual(expect.arrayContaining(['create', 'status', 'switch', 'reverse']));
    expect(await complete('tail', '--fo')).toEqual(expect.arrayContaining(['--follow', '--format']));
    expect(await complete('tail', '--format', '')).toEqual(expect.arrayContaining(['table', 'ndjson']));
    await run('profile', 'set', 'prod', '--url', 'http://127.0.0.1:1');
    expect(await complete('get', '--profile', '')).toContain('prod');
  });

  it.each(['bash', 'zsh', 'fish'])('has a script for %s', async (shell) => {
    const { code, stdout } = await run('complete', shell);
    expect(code).toBe(0);
    expect(stdout).toContain('schemaless complete --');
  });
});

it('every command has help with examples', async () => {
  const names = [...(await run('--help')).stdout.matchAll(/^ {2}([a-z][a-z-]+) /gmu)].map(([, name = '']) => name);
  const own = names.filter((name) => !['complete', 'help'].includes(name));
  expect(own.length).toBeGreaterThan(14);
  const helps = await Promise.all(own.map(async (name) => [name, (await run(name, '--help')).stdout] as const));
  const groups = helps.filter(([, text]) => /^Commands:$/mu.test(text)).map(([name]) => name);
  expect(groups).toEqual(['shards', 'triggers', 'parked', 'buffer', 'move', 'erasures', 'delete', 'profile']);
  for (const [name, text] of helps)
    if (!groups.includes(name)) expect([name, text]).toEqual([name, expect.stringContaining('Examples:\n  ')]);
});

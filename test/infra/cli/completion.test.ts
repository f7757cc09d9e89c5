import { describe, expect, it, vi } from 'vitest';
import { PATIENCE_MS } from '../../support/until.ts';
import { fakeApi } from './fake-api.ts';
import { runCommand, runProcess, runShell, type Ran } from './run-command.ts';

const api = fakeApi(({ path }) => {
  const [, , datastore, what] = path.split('/');
  if (what === 'indexes') return [200, { indexes: [{ index: 'city_index' }] }];
  if (what === 'triggers') return [200, { triggers: [{ trigger: `bill_${datastore}` }] }];
  return [404, { code: 'unknown_datastore', detail: '?', wanted: 'one of shop, trips', retry: 'never' }];
});
const { folder } = api;
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

  it('has a script that bash may source twice', async () => {
    const twice =
      'script=$(schemaless complete bash); for once in 1 2; do eval "$script"; done; complete -p schemaless';
    const ran = await runShell(twice, { folder });
    expect(ran).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('__schemaless_complete') });
  });

  it.each([
    ['indexes', ['query', '-d', 'trips'], ['city_index']],
    ['triggers', ['triggers', 'show', '-d', 'trips'], ['bill_trips']],
    ['triggers of the datastore before', ['delete', 'trigger', 'shop'], ['bill_shop']],
    ['datastores', ['triggers', 'list', '-d'], ['shop', 'trips']],
  ])('knows %s', async (_what, words, names) => {
    const complete = async (): Promise<readonly string[]> => {
      const environment = { SCHEMALESS_URL: api.url() };
      const { stdout } = await runProcess(['complete', '--', ...words, ''], { folder, environment });
      return stdout.split('\n').flatMap((line) => (/^(?::|$)/u.test(line) ? [] : [line.split('\t')[0] ?? '']));
    };
    // A busy machine may take longer than a shell waits.
    await vi.waitFor(async () => expect(await complete()).toEqual(names), { timeout: PATIENCE_MS });
  });
});

it('every command has help with examples', async () => {
  const names = [...(await run('--help')).stdout.matchAll(/^ {2}([a-z][a-z-]+) /gmu)].map(([, name = '']) => name);
  const own = names.filter((name) => !['complete', 'help'].includes(name));
  expect(own.length).toBeGreaterThan(14);
  const helps = await Promise.all(own.map(async (name) => [name, (await run(name, '--help')).stdout] as const));
  const groups = helps.filter(([, text]) => /^Commands:$/mu.test(text)).map(([name]) => name);
  expect(groups).toEqual(['shards', 'triggers', 'parked', 'buffer', 'move', 'erasures', 'delete', 'profile']);
  // One voice: the imperative, without a full stop.
  for (const [, text] of helps) expect(text).toMatch(/^Usage: .*\n\n(?!\w+s )[a-z][^]*?(?<!\.)\n\n/u);
  for (const [name, text] of helps)
    if (!groups.includes(name)) expect([name, text]).toEqual([name, expect.stringContaining('Examples:\n  ')]);
});

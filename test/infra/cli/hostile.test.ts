import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { fakeApi, type Answer, type Asked } from './fake-api.ts';
import { linesOf, runCommand, runProcess, runShell, startCommand, type Ran } from './run-command.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const CELL = { row_key: ROW, column_name: 'BASE', ref_key: 1, body: 0, added_id: 1, shard: 0, created_at: '' };
const SERVED = { served_by: 'writer', stale: false };
/** No server listens there. */
const DEAD = 'http://127.0.0.1:1';
let answer: (asked: Asked) => Answer;
const { requests, folder, command, run: runThere, url } = fakeApi((asked) => answer(asked));

const HERE = { folder, environment: { AWS_EC2_METADATA_DISABLED: 'true' } };
const run = (...parameters: string[]): Promise<Ran> => runCommand(parameters, HERE);
const get = (...parameters: string[]): Promise<Ran> => run('get', ROW, 'BASE', '1', '-d', 'trips', ...parameters);

describe('a write with an unknown outcome says how to repeat it so that there is one cell', () => {
  const NONE = { code: 'cell_not_found', detail: 'none', retry: 'never', ...SERVED };
  const output = /^repeat it, with the same body, as: schemaless (put (\S+) NOTES (\d+))$/mu;

  it.each([
    ['the next ref key', ['put', ROW, 'NOTES', 'next', '"a"'], '0'],
    ['a new row', ['put', 'new', 'NOTES', '7', '"a"'], '7'],
    ['both', ['put', 'new', 'NOTES', 'next', '"a"'], '0'],
  ])('%s', async (_name, typed, ref_key) => {
    const written: string[] = [];
    let knows = false;
    answer = ({ method, path }) => {
      if (method === 'GET') return [404, NONE];
      written.push(path);
      return knows ? [200, { outcome: 'stored_before', shard: 0, added_id: 1 }] : [504, { message: 'Timeout' }];
    };
    const first = await runThere(...typed);
    expect(first).toMatchObject({ code: 5, stderr: expect.not.stringContaining('yes, it is safe') });
    const [, again = '', row_key, at] = output.exec(first.stderr) ?? [];
    expect(at).toBe(ref_key);
    expect(JSON.parse(first.stdout)).toMatchObject({ outcome: 'unavailable', row_key, ref_key: Number(ref_key) });
    knows = true;
    const second = await runThere(...again.split(' '), '"a"');
    expect(second.code).toBe(0);
    expect(new Set(written).size).toBe(1);
  });

  it('and where none was begun, the command itself', async () => {
    answer = () => [504, { message: 'Timeout' }];
    const { code, stdout, stderr } = await runThere('put', ROW, 'NOTES', 'next', '"a"');
    expect([code, stdout]).toEqual([5, '']);
    expect(stderr).toContain('yes, it is safe');
  });
});

describe('an API that does not answer well', () => {
  const OOPS = { code: 'internal', detail: 'oops', retry: 'later' };

  it('is told from one that refuses: no server', async () => {
    const { code, stdout, stderr } = await get('--url', DEAD);
    expect([code, stdout]).toEqual([5, '']);
    expect(stderr).toMatch(/^error: unavailable: No answer from http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/u);
    expect(stderr).toMatch(/^ {2}repeat {6}yes, it is safe$/mu);
    expect(stderr).toMatch(/^ {2}fix {9}.*npm start/mu);
  });

  it.each([
    ['the gateway away', 502, '<html>Bad Gateway</html>', 5, 'error: unavailable: Answered 502'],
    ['not let in', 403, { message: 'Forbidden' }, 6, 'error: denied: Answered 403'],
    ['an error nobody foresaw', 500, { ...OOPS, request_id: 'id-7' }, 1, 'request id  id-7'],
    ['a code of a newer server', 418, { ...OOPS, code: 'teapot' }, 1, 'Answered 418 teapot: oops'],
    ['something else', 200, '<html>Welcome</html>', 5, 'error: unavailable: No answer from'],
    ['a list that is none', 200, [], 5, 'error: unavailable: No answer from'],
  ] as const)('%s', async (_name, status, body, code, message) => {
    answer = () => [status, body];
    const ran = await get('--url', url());
    expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
    expect(ran.stderr).not.toContain('    at ');
  });

  it('is followed until it answers again', async () => {
    const cell = (added_id: number) => ({ ...CELL, added_id });
    const log = (cells: object[], next: number) => ({ logs: [{ shard: 0, cells, next, more: false, ...SERVED }] });
    let reads = 0;
    answer = (request) => {
      if (request.method === 'GET') return [200, { shards: [{ shard: 0, group: 'group-1', head: 0 }] }];
      reads += 1;
      if (reads === 1) return [200, log([cell(1)], 1)];
      // More than one request is tried for.
      if (reads < 9) return [503, { message: 'Service Unavailable' }];
      return [200, reads === 9 ? log([cell(2)], 2) : log([], 2)];
    };
    const following = startCommand(command('tail', '-f'), HERE);
    let output = '';
    following.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const lines = createInterface({ input: following.stdout ?? process.stdin })[Symbol.asyncIterator]();
    expect(JSON.parse(String((await lines.next()).value))).toEqual(cell(1));
    expect(JSON.parse(String((await lines.next()).value))).toEqual(cell(2));
    following.kill('SIGTERM');
    expect(await once(following, 'exit')).toEqual([0, null]);
    expect(output).toMatch(/^the API does not answer, retrying: Answered 503.*\nthe API answers again\n$/u);
  });

  it('asks which datastore, where it has several', async () => {
    const unknown = (wanted: string) => ({ code: 'unknown_datastore', detail: '?', wanted, retry: 'never' });
    answer = () => [404, unknown('one of orders, shop, smoke')];
    const several = await run('shards', '--url', url());
    expect(several.code).toBe(2);
    expect(several.stderr).toContain('datastore: wanted one of orders, shop, smoke, got none');
    expect(several.stderr).toContain('--datastore NAME');
    answer = ({ path }) =>
      path.startsWith('/v1/shop/')
        ? [200, { shards: [{ shard: 0, group: 'group-1', head: 7 }] }]
        : [404, unknown('one of shop, smoke')];
    expect(linesOf(await run('shards', '--url', url()))).toMatchObject([{ database: 'shop_0000', head: 7 }]);
  });
});

describe('signatures', () => {
  it('are sent where they are asked for, with the credentials of AWS', async () => {
    let authorization: string | undefined;
    answer = ({ headers }) => (({ authorization } = headers), [200, { shards: [] }]);
    const environment = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'eu-west-1' };
    const signed = await runCommand(command('shards', '--sign'), { ...HERE, environment });
    expect(signed).toMatchObject({ code: 0, stderr: '' });
    expect(authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/execute-api\/aws4_request/u,
    );
  });

  it('that cannot be made say what is missing', async () => {
    const [region, credentials] = await Promise.all([
      get('--url', url(), '--sign'),
      get('--url', url(), '--sign', '--region', 'eu-west-1'),
    ]);
    expect(region).toMatchObject({ code: 2, stderr: expect.stringContaining('region: wanted the region') });
    expect(credentials).toMatchObject({ code: 6, stderr: expect.stringContaining('No credentials of AWS') });
  });
});

describe('what cannot be used', () => {
  it.each([
    ['no command', [], 'Usage: schemaless'],
    ['an unknown command', ['gte', ROW], "unknown command 'gte'"],
    ['an unknown flag', ['get', '--rad', 'x', ROW, 'BASE', '1'], "unknown option '--rad'"],
    ['a missing argument', ['get', ROW], "missing required argument 'column'"],
    ['a row key that is none', ['get', 'x', 'BASE', '1'], 'row_key: wanted a UUID of 36 characters'],
    ['a ref key that is none', ['get', ROW, 'BASE', '1e3'], 'ref-key: wanted an integer from 0 to 2^53-1, got "1e3"'],
    ['an empty column', ['get', ROW, '', '1'], 'column_name: wanted a string of 1 to 255 bytes'],
    ['a format that is none', ['shards', '--format', 'xml'], 'Allowed choices are table, wide, json, ndjson'],
    ['a URL that is none', ['shards', '--url', 'trips.example'], '--url: wanted an http or https URL'],
    ['a body that is no JSON', ['put', ROW, 'BASE', '1', '{'], 'invalid_json'],
    ['a file that is not there', ['put', ROW, 'BASE', '1', '@none.json'], 'none.json cannot be read'],
    ['no lock of a folder', ['export', 'backup', '--no-lock'], 'no-lock: wanted with s3://bucket/prefix alone'],
    ['a place beside a file of them', ['digest', '--at', '1', '--compare', 'x'], '--at: wanted none with --compare'],
    ['digests that are not there', ['digest', '--compare', 'none.ndjson'], '--compare: wanted digests as NDJSON'],
    ['a move to nowhere', ['move', 'create', '3'], "required option '--to <group>' not specified"],
    ['a move of no shard', ['move', 'status', 'first'], 'Wanted a whole number from 0 to 65535, got "first"'],
    [
      'a time that is none',
      ['move', 'create', '3', '--to', 'group-2', '--complete-after', '1h'],
      'Wanted a whole number from 0 to 31536000, got "1h"',
    ],
    ['a profile that is not there', ['shards', '--profile', 'none'], 'there are none'],
  ] as const)('is refused before anything is sent: %s', async (_name, parameters, message) => {
    const profiled = parameters.some((one) => one === '--profile' || one === '--url');
    const ran = await run(...parameters, ...(profiled ? [] : ['--url', url()]));
    expect(ran).toMatchObject({ code: parameters.at(-1) === 'none' ? 3 : 2, stdout: '' });
    expect(ran.stderr).toContain(message);
    expect(requests).toEqual([]);
  });

  it.each([
    ['an unknown flag', ['get', '--rad', 'x', '--format', 'json'], "unknown option '--rad'"],
    ['a missing argument', ['--format=ndjson', 'get', ROW], "missing required argument 'column'"],
    ['a row key that is none', ['get', 'x', 'BASE', '1', '--url', 'http://127.0.0.1:1', '--format', 'json'], 'row_key'],
    ['no command', ['--format', 'json'], 'wanted a command'],
    ['none of a group', ['--format', 'json', 'profile'], 'wanted a command'],
    [
      'a name that is a command too',
      ['profile', 'show', 'export', '--format', 'json', '--rad'],
      "unknown option '--rad'",
    ],
  ] as const)('is one line of JSON for programs: %s', async (_name, parameters, message) => {
    const { code, stdout, stderr } = await run(...parameters);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({ error: { message: expect.stringContaining(message), exit_code: 2 } });
  });

  it('is text where --format is that of files', async () => {
    const ran = await run('export', 'query', '--format', 'ndjson', '--rad');
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringMatching(/^error: unknown option '--rad'$/mu) });
  });

  it('is refused as a body: too large, or not UTF-8', async () => {
    const put = command('put', ROW, 'BASE', '1');
    const [endless, large, bytes] = await Promise.all([
      runShell(`yes | schemaless ${put.join(' ')} -; echo "code $?"`, HERE),
      runCommand(put, { ...HERE, stdin: `"${'x'.repeat(1024 * 1024)}"` }),
      runCommand(put, { ...HERE, stdin: Buffer.of(0x22, 0xff, 0x22) }),
    ]);
    expect(endless.stderr).toContain('body_too_large');
    expect(endless.stdout).toMatch(/^code 2$/mu);
    expect(large).toMatchObject({ code: 2, stderr: expect.stringContaining('body_too_large') });
    expect(bytes).toMatchObject({ code: 2, stderr: expect.stringContaining('body: wanted UTF-8, got other bytes') });
    expect(requests).toEqual([]);
  });

  it('is refused as offsets', async () => {
    answer = () => [200, { shards: [] }];
    const file = join(folder, 'offsets.json');
    for (const text of ['', '{}', '{"datastore":"shop","shards":{}}', '{"datastore":"trips","shards":{"0":"x"}}']) {
      writeFileSync(file, text);
      expect(await runThere('tail', '--offsets', file)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--offsets: wanted'),
      });
    }
  });
});

it.each([
  'export /dev/null/x',
  // Node's own recursive mkdir never ends here.
  ...(process.platform === 'linux' ? ['export /proc/none/x'] : []),
  `export /${'x'.repeat(300)}`,
  'import one.ndjson --journal /dev/null/x',
  'import one.ndjson --journal .',
  'import one.ndjson --rejects /dev/null/x',
  'profile set there',
])('a path that cannot be written is bad input: %s', async (line) => {
  writeFileSync(join(folder, 'one.ndjson'), JSON.stringify({ ...CELL, ref_key: 1 }));
  answer = () => [200, { shards: [] }];
  const parameters = line.startsWith('profile') ? line.split(' ') : command(...line.split(' '));
  const ran = await runCommand(parameters, { folder, environment: { XDG_CONFIG_HOME: '/dev/null' } });
  expect(ran).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^error: bad_input: .*: wanted a path/u),
  });
});

it.each([
  ['help', 'put --help | head -1', 'Usage: schemaless put'],
  ['the help of all', '--help | true', ''],
  ['a script', 'complete bash | head -1', '# bash completion'],
  ['names', 'complete -- get --fo | head -1', '--format'],
  ['messages', 'get x BASE 1 2>&1 >&- | true', ''],
])('a reader of %s may have enough of it', async (_what, line, output) => {
  const { stdout, stderr } = await runShell(`set +o pipefail; schemaless ${line}`, HERE);
  expect([stdout.slice(0, output.length), stderr]).toEqual([output, '']);
});

it('a reader of results may have enough of them', async () => {
  const cells = Array.from({ length: 1000 }, (_, ref_key) => ({ ...CELL, ref_key, body: 'x'.repeat(500) }));
  answer = () => [200, { cells, next: 1, ...SERVED }];
  const ran = await runShell(`schemaless versions ${ROW} BASE -d trips --url ${url()} | head -n 2`, HERE);
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(linesOf(ran)).toMatchObject([{ ref_key: 0 }, { ref_key: 1 }]);
});

it.runIf(process.platform === 'linux')(
  'tail -f ends when its reader has enough, though no more cells come',
  async () => {
    let reads = 0;
    answer = (request) => {
      if (request.method === 'GET') return [200, { shards: [{ shard: 0, group: 'group-1', head: 0 }] }];
      reads += 1;
      return [200, { logs: [{ shard: 0, cells: reads === 1 ? [CELL] : [], next: 1, more: false, ...SERVED }] }];
    };
    const ran = await runShell(`schemaless tail -f -d trips --url ${url()} | head -n 1`, HERE);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(ran)).toEqual([CELL]);
  },
);

it('a process of its own says and ends as a command within this process does', async () => {
  answer = () => [200, { shards: [{ shard: 0, group: 'group-1', head: 7 }] }];
  for (const parameters of [command('shards'), ['get', 'x', 'BASE', '1', '--format', 'json'], ['get', ROW]])
    expect(await runProcess(parameters, HERE)).toEqual(await runCommand(parameters, HERE));
  const put = { ...HERE, stdin: '{' };
  const piped = command('put', ROW, 'BASE', '1');
  expect(await runProcess(piped, put)).toEqual(await runCommand(piped, put));
});

describe('an import of what was imported already', () => {
  it('says so, says what was stored then and where its rejects are, and ends as it did', async () => {
    let head = 0;
    answer = ({ method }) => {
      if (method === 'GET') return [200, { shards: [{ shard: 0, group: 'group-1', head }] }];
      head += 1;
      return [200, { results: [{ outcome: 'stored', shard: 0, added_id: head, created_at: '2026-01-01T00:00:00Z' }] }];
    };
    const { row_key, column_name, ref_key, body } = CELL;
    const file = join(folder, 'trips.ndjson');
    writeFileSync(file, `${JSON.stringify({ row_key, column_name, ref_key, body })}\nno JSON\n`);
    const imported = (): Promise<Ran> => runThere('import', file);
    const rejects = `${file}.rejects.ndjson`;
    const first = await imported();
    expect(first).toMatchObject({ code: 7 });
    expect(JSON.parse(first.stdout)).toMatchObject({ counts: { stored: 1, rejected: 1 }, rejects });
    requests.length = 0;

    const again = await imported();

    expect(again).toMatchObject({
      code: 7,
      stderr: expect.stringContaining(`1 cells, but for 1 that were rejected, which are in ${rejects}: nothing was`),
    });
    expect(JSON.parse(again.stdout)).toMatchObject({
      already: { stored: 1, rejected: 1 },
      counts: { stored: 0, rejected: 0 },
      rejects,
    });
    expect(requests.map(([method]) => method)).toEqual(['GET']);
    rmSync(rejects);
    const gone = await imported();
    expect(gone).toMatchObject({ code: 7, stderr: expect.stringContaining('whose file is gone') });
    expect(JSON.parse(gone.stdout)).not.toHaveProperty('rejects');
  });
});

import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, vi } from 'vitest';
import { askWriter, wholeStack } from '../../support/whole-stack.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { linesOf, runCommand, runShell, startCommand, type Ran, type Running } from './run-command.ts';

/** Synthesis, servers, functions and a process for each command, on a machine that has other things to do. */
vi.setConfig({ testTimeout: 240_000, hookTimeout: 900_000 });

const SHARDS = 4;
const [ROW, DRIVER, RIDER] = [1, 2, 3].map((digit) => `6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f${digit}`) as [
  string,
  string,
  string,
];
const TRIP = {
  driver_partner_uuid: DRIVER,
  rider_uuid: RIDER,
  fare: { total: 12.5 },
  trip_created_at: '2026-01-31T08:00:00Z',
};

const folder = folderOfTests();

/** The datastore `cli` has the indexes of the trips, and a trigger whose consumer is elsewhere. */
const stack = wholeStack();
const here = (): Running => ({
  folder: folder.path,
  environment: { SCHEMALESS_URL: stack().url, SCHEMALESS_DATASTORE: 'cli' },
});
const run = (...parameters: string[]): Promise<Ran> => runCommand(parameters, here());

describe('cells', () => {
  it('are written once, and repeating is safe', async () => {
    const body = JSON.stringify(TRIP);
    const first = await run('put', ROW, 'BASE', '1', body);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(first)).toEqual([
      {
        outcome: 'stored',
        row_key: ROW,
        column_name: 'BASE',
        ref_key: 1,
        shard: expect.any(Number),
        added_id: 1,
        created_at: expect.any(String),
      },
    ]);
    writeFileSync(join(folder.path, 'trip.json'), ` ${body}\n`);
    const [again, other, piped] = await Promise.all([
      run('put', ROW, 'BASE', '1', '@trip.json'),
      run('put', ROW, 'BASE', '1', '{}'),
      runCommand(['put', ROW, 'STATUS', 'next'], { ...here(), stdin: '{"is_completed": true}' }),
    ]);
    expect([again.code, linesOf(again)[0]?.['outcome']]).toEqual([0, 'stored_before']);
    expect([other.code, linesOf(other)[0]?.['outcome']]).toEqual([4, 'conflict']);
    expect(other.stderr).toContain('write a higher ref key');
    expect([piped.code, linesOf(piped)[0]?.['ref_key']]).toEqual([0, 0]);
  });

  it('are read one, the latest, all versions, and by row', async () => {
    await run('put', ROW, 'BASE', '2', '{"n": 18446744073709551615}');
    const [one, latest, body, versions, row, none] = await Promise.all([
      run('get', ROW.toUpperCase(), 'BASE', '1'),
      run('latest', ROW, 'BASE', '--read', 'writer'),
      run('latest', ROW, 'BASE', '--body'),
      run('versions', ROW, 'BASE', '--order', 'asc'),
      run('row', ROW, '-c', 'BASE', '-c', 'NONE'),
      run('get', ROW, 'BASE', '9', '--format', 'json'),
    ]);
    expect(linesOf(one)).toMatchObject([{ row_key: ROW, ref_key: 1, body: TRIP, served_by: 'writer', stale: false }]);
    expect(linesOf(latest)).toMatchObject([{ ref_key: 2 }]);
    expect(body.stdout).toBe('{"n":18446744073709551615}\n');
    expect(linesOf(versions).map(({ ref_key }) => ref_key)).toEqual([1, 2]);
    expect(linesOf(row).map(({ column_name, ref_key }) => [column_name, ref_key])).toEqual([['BASE', 2]]);
    expect(none.code).toBe(3);
    expect(JSON.parse(none.stderr)).toMatchObject({ error: { code: 'cell_not_found', exit_code: 3, repeat: false } });
  });

  it('may have any name of a column, which nothing makes act on a terminal', async () => {
    const name = "o'dd\u001b[31m/名";
    const put = await run('put', ROW, name, '1', '["\u009b2J"]'.replace('\u009b', '\\u009b'));
    expect(put.code).toBe(0);
    const [table, explained, refused] = await Promise.all([
      run('row', ROW, '-c', name, '--format', 'table'),
      run('explain', ROW, name),
      run('versions', ROW, name),
    ]);
    expect(table.stdout).toContain("o'dd\\u001b[31m/名");
    // oxlint-disable-next-line no-control-regex -- these are what it is about
    expect(table.stdout).not.toMatch(/[\u001b\u009b]/u);
    const [place] = linesOf(explained);
    expect((await ask(place?.['sql_cells'], place?.['group']))[0]).toMatchObject({ ref_key: 1 });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/^ {2}field {7}column_name$/mu);
  });

  it('are a table on a terminal', async () => {
    const { stdout } = await runShell(
      `schemaless_there() { schemaless row ${ROW} -c BASE; }; export -f schemaless schemaless_there; script -qec 'stty cols 100; schemaless_there' /dev/null`,
      { ...here(), environment: { ...here().environment, NO_COLOR: '1', TERM: 'xterm', SHELL: '/bin/bash' } },
    );
    expect(stdout.replaceAll('\r', '')).toMatch(/^COLUMN {4}REF {2}ADDED {3}CREATED {15}BODY\nBASE {6}2 {4}\d/mu);
  });
});

/** Asks the writer of a group itself, as an operator would. */
const ask = (sql: unknown, group: unknown) => askWriter(stack(), String(group), String(sql));

describe('where things lie', () => {
  it('is explained by row, with SQL that works', async () => {
    const [explained, shards, plan] = await Promise.all([
      run('explain', ROW),
      run('shards'),
      run('explain', '--query', 'rider_index', `rider_uuid=${RIDER}`),
    ]);
    const [found] = linesOf(explained);
    const { sql_shard, sql_cells, sql_owner, sql_buffered, shard, database, group } = found as Record<string, string>;
    expect(found).toMatchObject({ row_key: ROW, of_shards: SHARDS, table: `${database}.entity` });
    expect(Object.values((await ask(sql_shard, group))[0] ?? {})).toEqual([shard]);
    expect(await ask(sql_cells, group)).toHaveLength(4);
    expect(await ask(sql_owner, group)).toHaveLength(1);
    expect(await ask(sql_buffered, group)).toEqual([]);
    expect(linesOf(shards).map((one) => one['shard'])).toEqual([0, 1, 2, 3]);
    expect(linesOf(shards)[Number(shard)]).toMatchObject({ database, group, head: 4 });
    const [of] = linesOf(plan);
    expect(of).toMatchObject({ index: 'rider_index', plan: expect.any(Object) });
    // The first version had the rider; the latest has not, so that the row has no entry now.
    expect(found?.['entries']).toEqual([]);
    expect(await ask(`SELECT COUNT(*) FROM ${String(of?.['table'])}`, of?.['group'])).toHaveLength(1);
  });

  it('is found by an index', async () => {
    const rows = ['7', '8', '9'].map((digit) => `${ROW.slice(0, -1)}${digit}`);
    await Promise.all(
      rows.map((row, fare) => run('put', row, 'BASE', '1', JSON.stringify({ ...TRIP, fare: { total: fare } }))),
    );
    const query = ['query', 'driver_partner_index', `driver_partner_uuid=${DRIVER}`];
    const [dear, brought, table, unknown] = await Promise.all([
      run(...query, 'fare.total>=1', '-o', '-fare.total', '--fields', 'fare.total'),
      run(...query, '-n', '1', '-c', '*'),
      run(...query, '--format', 'table'),
      run(...query, 'fair=1'),
    ]);
    expect(linesOf(dear).map(({ row_key, fields }) => [row_key, fields])).toEqual([
      [rows[2], { 'fare.total': 2 }],
      [rows[1], { 'fare.total': 1 }],
    ]);
    expect(linesOf(brought)).toMatchObject([{ row_key: rows[0], cells: [{ column_name: 'BASE' }] }]);
    expect(table.stdout).toMatch(
      /^ROW KEY +driver_partner_uuid +city_uuid +trip_created_at +fare\.total +is_completed\n/u,
    );
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('unknown_field') });
    const [explained] = linesOf(await run('explain', rows[0] ?? ''));
    const [entry] = (explained?.['entries'] ?? []) as { table: string; shard: number; group: string }[];
    const ofDriver = `f0 = UNHEX('${DRIVER.replaceAll('-', '')}') AND tombstone_at IS NULL`;
    expect(await ask(`SELECT row_key FROM ${entry?.table} WHERE ${ofDriver}`, entry?.group)).toHaveLength(3);
  });
});

describe('the digests of logs', () => {
  it('are those of the readers, too, and of what was printed before; one that differs is shown', async () => {
    const printed = await run('digest');
    expect(printed).toMatchObject({ code: 0, stderr: '' });
    const digests = linesOf(printed) as { shard: number; at: number; digest: string }[];
    expect(digests.map(({ shard }) => shard)).toEqual([0, 1, 2, 3]);
    const flipped = (digest: string): string => `${digest.startsWith('0') ? '1' : '0'}${digest.slice(1)}`;
    const planted = digests.map((one) => (one.shard === 2 ? { ...one, digest: flipped(one.digest) } : one));
    const files = {
      same: printed.stdout,
      other: planted.map((one) => JSON.stringify(one)).join('\n'),
      not: '{"shard": 1}',
      empty: '{"shard": 1, "error": {}}\n',
      longer: JSON.stringify({ ...digests[1], at: (digests[1]?.at ?? 0) + 5 }),
      mixed: [{ ...digests[1], at: (digests[1]?.at ?? 0) + 5 }, planted[2]]
        .map((one) => JSON.stringify(one))
        .join('\n'),
    };
    for (const [name, lines] of Object.entries(files)) writeFileSync(join(folder.path, name), lines);
    const [equal, differing, one, bad, gone, empty, longer, behind, both, mixed] = await Promise.all([
      run('digest', '--compare', join(folder.path, 'same'), '--read', 'reader'),
      run('digest', '--compare', join(folder.path, 'other')),
      run('digest', '1', '--at', '0'),
      run('digest', '--compare', join(folder.path, 'not')),
      run('digest', '1', '--at', '1000000'),
      run('digest', '--compare', join(folder.path, 'empty')),
      run('digest', '--compare', join(folder.path, 'longer')),
      run('digest', '--compare', join(folder.path, 'longer'), '--read', 'reader'),
      run('digest', '2', '--compare', join(folder.path, 'longer')),
      run('digest', '--compare', join(folder.path, 'mixed'), '--read', 'reader'),
    ]);
    expect(equal).toMatchObject({ code: 0, stdout: '', stderr: '4 of 4 shards are compared\n' });
    expect(differing.code).toBe(8);
    expect(linesOf(differing)).toEqual([{ ...digests[2], wanted: { at: digests[2]?.at, digest: planted[2]?.digest } }]);
    expect(linesOf(one)).toMatchObject([{ shard: 1, at: 0, digest: '0'.repeat(64) }]);
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('line 1')]);
    expect([gone.code, linesOf(gone)]).toMatchObject([5, [{ shard: 1, error: { code: 'unavailable' } }]]);
    // A log that lost its end differs; a reader may be behind.
    expect([longer.code, linesOf(longer)]).toMatchObject([
      8,
      [{ ...digests[1], wanted: { digest: digests[1]?.digest } }],
    ]);
    expect([behind.code, linesOf(behind)]).toMatchObject([5, [{ shard: 1, error: { code: 'unavailable' } }]]);
    expect([empty.code, both.code]).toEqual([2, 2]);
    // One that cannot be read hides no difference.
    expect([mixed.code, linesOf(mixed).length]).toEqual([8, 2]);
  });
});

describe('logs', () => {
  it('are read from any place, of some shards, of some columns', async () => {
    const [all, some, columns, since, refused, unknown] = await Promise.all([
      run('tail'),
      run('tail', '0', '1', '2', '3', '--from', '2', '-n', '1'),
      run('tail', '-c', 'STATUS'),
      run('tail', '--from', '2999-01-01T00:00:00Z'),
      run('tail', '--from', 'then'),
      run('tail', '99'),
    ]);
    const cells = linesOf(all).filter(({ column_name }) => column_name !== 'STATUS');
    expect(cells).toHaveLength(6);
    expect(linesOf(some)).toMatchObject([{ added_id: 2 }]);
    expect(linesOf(columns).every(({ column_name }) => column_name === 'STATUS')).toBe(true);
    expect(since.stdout).toBe('');
    expect([refused.code, unknown.code]).toEqual([2, 3]);
  });

  it('are followed line by line, and go on where they stood', async () => {
    const offsets = join(folder.path, 'offsets.json');
    const parameters = ['tail', '-f', '--from', 'now', '-c', 'NOTES', '--offsets', offsets];
    const following = startCommand(parameters, here());
    const lines = createInterface({ input: following.stdout ?? process.stdin })[Symbol.asyncIterator]();
    // It begins at the end of the logs as they are once it runs: written again and again until the first one comes.
    let writes = 0;
    const first = lines.next();
    for (const seen = first.then(() => true); !(await Promise.race([seen, Promise.resolve(false)]));)
      await run('put', ROW, 'NOTES', String((writes += 1)), '{}');
    const { ref_key } = JSON.parse(String((await first).value)) as { ref_key: number };
    const seen = [ref_key];
    while (seen.at(-1) !== writes)
      seen.push((JSON.parse(String((await lines.next()).value)) as { ref_key: number }).ref_key);
    expect(seen).toEqual(seen.map((_, position) => ref_key + position));
    following.kill('SIGINT');
    expect(await once(following, 'exit')).toEqual([0, null]);
    await run('put', ROW, 'NOTES', String(writes + 1), '{}');
    const rest = await run('tail', '-c', 'NOTES', '--offsets', offsets);
    expect(linesOf(rest).map((cell) => cell['ref_key'])).toEqual([writes + 1]);
    expect((await run('tail', '-c', 'NOTES', '--offsets', offsets)).stdout).toBe('');
    expect((await run('tail', '-d', 'smoke', '--offsets', offsets)).code).toBe(2);
  });
});

describe('operators', () => {
  it('see triggers, halt them, and set them back', async () => {
    const list = await run('triggers', 'list');
    expect(linesOf(list)).toMatchObject([{ trigger: 'bill_rider', columns: ['BASE'] }]);
    expect(linesOf(await run('triggers', 'pause', 'bill_rider', '--reason', 'a test'))).toMatchObject([
      { state: 'paused', reason: 'a test' },
    ]);
    const [shown, shards, rewound, wrong, unknown] = await Promise.all([
      run('triggers', 'show', 'bill_rider', '--format', 'table'),
      run('triggers', 'show', 'bill_rider', '--shards'),
      run('triggers', 'rewind', 'bill_rider', '0=0'),
      run('triggers', 'rewind', 'bill_rider', 'back'),
      run('triggers', 'show', 'nope'),
    ]);
    expect(shown.stdout).toMatch(/^state +paused$/mu);
    expect(linesOf(shards).map(({ shard }) => shard)).toEqual([0, 1, 2, 3]);
    expect(linesOf(rewound)[0]?.['rewound_at']).toEqual(expect.any(String));
    expect([wrong.code, unknown.code]).toEqual([2, 3]);
    expect(linesOf(await run('triggers', 'resume', 'bill_rider'))).toMatchObject([{ state: 'running' }]);
  });

  it('see what is parked, and choose of it', async () => {
    const [list, dead, retried, replayed, unsure, both] = await Promise.all([
      run('parked', 'list', 'bill_rider'),
      run('parked', 'list', 'bill_rider', '--dead'),
      run('parked', 'retry', 'bill_rider', '3/9999'),
      run('parked', 'retry', 'bill_rider', '--dead'),
      run('parked', 'discard', 'bill_rider', '--all'),
      run('parked', 'retry', 'bill_rider', '3:1', '--all'),
    ]);
    expect([list.stdout, dead.stdout]).toEqual(['', '']);
    expect([retried.code, linesOf(retried)]).toEqual([3, [{ wanted: 0, not_parked: [{ shard: 3, added_id: 9999 }] }]]);
    expect(linesOf(replayed)).toEqual([{ replayed: 0, left: 0 }]);
    expect(unsure).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect(both.code).toBe(2);
    expect(linesOf(await run('parked', 'discard', 'bill_rider', '--all', '--yes'))).toMatchObject([{ discarded: 0 }]);
  });

  it('see buffers and indexes, and how long reads take', async () => {
    const [status, conflicts, in_doubt, discarded, kept, index, indexes, ping] = await Promise.all([
      run('buffer', 'status'),
      run('buffer', 'conflicts', 'list'),
      run('buffer', 'in-doubt', 'list', '--format', 'json'),
      run('buffer', 'conflicts', 'discard', 'group-1/7', '--yes'),
      run('buffer', 'in-doubt', 'keep', 'seven'),
      run('verify-index', 'rider_index'),
      run('verify-index', '--format', 'table'),
      run('ping', '-n', '3'),
    ]);
    expect(linesOf(status)).toHaveLength(3);
    expect([conflicts.stdout, in_doubt.stdout]).toEqual(['', '[]\n']);
    expect([discarded.code, kept.code]).toEqual([3, 2]);
    expect(linesOf(index)).toMatchObject([{ index: 'rider_index', state: 'live' }]);
    expect(indexes.stdout).toMatch(/^rider_index +live/mu);
    expect(indexes.stderr).toContain('npm run verify-index -- NAME --datastore cli');
    expect(linesOf(ping).slice(0, 2)).toMatchObject([
      { group: 'group-1', role: 'writer', reads: 3, failed: 0, p50_ms: expect.any(Number), served_by: ['writer'] },
      { group: 'group-1', role: 'reader', reads: 3, failed: 0, p99_ms: expect.any(Number), served_by: ['reader'] },
    ]);
  });

  it('name another datastore, and profiles that say where', async () => {
    const [smoke, unknown, made] = await Promise.all([
      run('shards', '-d', 'smoke'),
      run('shards', '-d', 'nope'),
      run('profile', 'set', 'here', '--url', stack().url, '--datastore', 'smoke', '--current'),
    ]);
    expect(linesOf(smoke)[0]?.['database']).toBe('smoke_0000');
    expect(unknown).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/wanted one of .*smoke.*, got "nope"/u),
    });
    expect(unknown.stderr).toMatch(/^ {2}request id {2}\S+$/mu);
    expect(made.code).toBe(0);
    expect(readFileSync(join(folder.path, 'schemaless/profiles.yaml'), 'utf8')).toBe(
      `current: here\nprofiles:\n  here:\n    url: ${stack().url}\n    datastore: smoke\n`,
    );
    const byProfile = (...parameters: string[]): Promise<Ran> => runCommand(parameters, { folder: folder.path });
    const [current, list, used, shown] = await Promise.all([
      byProfile('profile', 'current'),
      byProfile('profile', 'list'),
      byProfile('shards'),
      byProfile('profile', 'show'),
    ]);
    expect(current.stdout).toBe('here\n');
    expect(linesOf(list)).toMatchObject([{ name: 'here', current: true }]);
    expect(linesOf(used)[0]?.['database']).toBe('smoke_0000');
    expect(linesOf(shown)).toMatchObject([{ by: 'the profile here', datastore: 'smoke' }]);
    expect((await run('profile', 'remove', 'here')).code).toBe(0);
    expect((await run('profile', 'current')).code).toBe(3);
    expect(existsSync(join(folder.path, 'schemaless/profiles.yaml'))).toBe(true);
  });
});

describe('the console', () => {
  const page = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(`${stack().url}/console${path}`, { headers });

  it('is served, under a policy that lets it run its own files alone', async () => {
    const answer = await page('');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = answer.headers.get('content-security-policy') ?? '';
    for (const part of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
      expect(policy).toContain(part);
    expect(policy).not.toContain('unsafe');
    const named = [...(await answer.text()).matchAll(/(?:href|src)="console(?<path>[^"]+)"/gu)];
    for (const { groups } of named) {
      const file = await page(groups?.['path'] ?? '');
      expect([file.status, file.headers.get('x-content-type-options')]).toEqual([200, 'nosniff']);
      expect(file.headers.get('content-security-policy')).toBe(policy);
    }
  });

  it('is asked for again by its tag, and there is nothing else below it', async () => {
    const etag = (await page('/main.js')).headers.get('etag') ?? '';
    expect((await page('/main.js', { 'if-none-match': etag })).status).toBe(304);
    expect((await page('/other.js')).status).toBe(404);
    expect((await page('/..%2fmain.js')).status).toBe(404);
    expect(await (await page('/session.json')).json()).toMatchObject({ actions: true, through: null });
  });

  it('is answered without bodies, and the log has who was shown them', async () => {
    const cell = `${stack().url}/v1/cli/cells/${ROW}/LOOKED/1`;
    await fetch(cell, { method: 'PUT', body: JSON.stringify(TRIP) });
    const ask = async (bodies: string): Promise<unknown> =>
      (await fetch(cell, { headers: { 'x-schemaless-bodies': bodies, 'x-request-id': `look-${bodies}` } })).json();
    expect(await ask('hidden')).toMatchObject({ row_key: ROW, body: null, hidden: true });
    expect(await ask('shown')).toMatchObject({ row_key: ROW, body: expect.objectContaining({ rider_uuid: RIDER }) });
    const line = (await vi.waitFor(() => {
      const found = readFileSync(stack().functionLog, 'utf8')
        .split('\n')
        .find((one) => one.includes('bodies shown') && one.includes('look-shown'));
      if (found === undefined) throw new Error('nobody wrote it down');
      return found;
    })) as string;
    expect(line).toContain('anybody');
  });
});

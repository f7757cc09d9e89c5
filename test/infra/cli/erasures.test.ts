import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Erasure } from '../../../shared/api/erasures.ts';
import { ERASED, ERASING, KEPT } from '../../functions/support/fake-erasures.ts';
import { FORGOTTEN } from '../../functions/support/fake-subjects.ts';
import { until } from '../../support/until.ts';
import { fakeApi } from './fake-api.ts';
import { linesOf, runCommand, startCommand } from './run-command.ts';

const ROUTE = '/v1/trips/erasures';
const ROW = ERASED.row_key;
/** The states of an erasure, one for each poll; the last one stays. */
let seen: readonly Erasure[] = [];
let pages: readonly (readonly Erasure[])[] = [];
let refused: readonly string[] = [];
let forgotten = FORGOTTEN;
beforeEach(() => {
  seen = [ERASED];
  pages = [[ERASED, ERASING]];
  refused = [];
  forgotten = FORGOTTEN;
});

const { requests, command, run, folder } = fakeApi(({ method, path, body }) => {
  if (!path.startsWith(ROUTE)) return [200, path.endsWith('/retention') ? KEPT : forgotten];
  if (method === 'GET' && /^[^?]*\/erasures(?:\?|$)/u.test(path)) {
    const page = Number(new URL(path, 'http://a.test').searchParams.get('after') ?? 0);
    return [200, { erasures: pages[page] ?? [], next: page + 1 < pages.length ? String(page + 1) : null }];
  }
  if (refused.includes(Object(body).reason))
    return [400, { code: 'invalid_field', detail: 'reason: no', field: 'reason', retry: 'never' }];
  const record = seen.length > 1 ? seen[0] : seen.at(-1);
  seen = seen.length > 1 ? seen.slice(1) : seen;
  return [method === 'POST' && record?.state === 'erasing' ? 202 : 200, { ...record }];
});

const reason = ['--reason', 'request 4711'];

describe('erase', () => {
  it.each([
    ['a row', [], {}],
    ['a column', ['BASE'], { column_name: 'BASE' }],
    ['versions', ['BASE', '--up-to', '3'], { column_name: 'BASE', up_to: 3 }],
    ['a cell', ['BASE', '--ref-key', '0'], { column_name: 'BASE', ref_key: 0 }],
  ])('takes %s, and prints the record', async (_what, parameters, target) => {
    const ran = await run('erase', ROW, ...parameters, ...reason, '--yes');
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(ran)).toEqual([ERASED]);
    expect(requests).toEqual([['POST', ROUTE, { row_key: ROW, ...target, reason: 'request 4711' }]]);
  });

  it('prints it for people, too', async () => {
    const { stdout } = await run('erase', ROW, 'BASE', ...reason, '--yes', '--format', 'table');
    expect(stdout).toMatch(/^id +b7b0f6a4-3f5e-5a42-9c64-2f3b1d0f7a11$/mu);
    expect(stdout).toMatch(/^state +erased$/mu);
    expect(stdout).toMatch(/^backups_until +-$/mu);
  });

  it('waits until it is done everywhere', async () => {
    seen = [ERASING, ERASED];
    const ran = await run('erase', ROW, 'BASE', ...reason, '--yes');
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(ran)).toEqual([ERASED]);
    expect(requests.map(([method, path]) => `${method} ${path}`)).toEqual([
      `POST ${ROUTE}`,
      `GET ${ROUTE}/${ERASING.id}`,
    ]);
  });

  it('says after its time what is missing, and that it goes on', async () => {
    seen = [ERASING];
    const ran = await run('erase', ROW, 'BASE', ...reason, '--yes', '--wait', '0');
    expect(ran).toMatchObject({ code: 5, stderr: expect.stringContaining('group-1 does not answer') });
    expect(linesOf(ran)).toEqual([ERASING]);
  });

  it('says what it came to where Ctrl-C ends the wait', async () => {
    seen = [ERASING];
    const erasing = startCommand(command('erase', ROW, 'BASE', ...reason, '--yes'), { folder });
    let printed = '';
    erasing.stdout?.on('data', (piece: Buffer) => (printed += piece.toString()));
    await until('it polls', () => requests.length > 1);
    erasing.kill('SIGINT');
    expect(await once(erasing, 'close')).toEqual([130, null]);
    expect(linesOf({ stdout: printed })).toEqual([ERASING]);
  });

  it.each([
    ['nobody says yes', [ROW, ...reason], 'forever? No terminal can be asked: add --yes'],
    ['a row key that is none', ['x', ...reason, '--yes'], 'row_key: wanted a UUID'],
    ['no reason', [ROW, '--yes'], "required option '--reason <text>' not specified"],
    ['a version of no column', [ROW, '--ref-key', '1', ...reason, '--yes'], 'column: wanted the one that --ref-key'],
    ['versions of no column', [ROW, '--up-to', '1', ...reason, '--yes'], 'column: wanted the one that --up-to'],
    ['both', [ROW, 'BASE', '--ref-key', '1', '--up-to', '1', ...reason], 'cannot be used with option'],
    ['a column of an erasure', [ROW, '\u0001BASE', ...reason, '--yes'], 'the first above 0x01'],
  ])('is refused before anything is sent: %s', async (_what, parameters, message) => {
    const ran = await run('erase', ...parameters);
    expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
    expect(requests).toEqual([]);
  });
});

describe('erasures', () => {
  it('are listed, page after page', async () => {
    pages = [[ERASED], [ERASING]];
    expect(linesOf(await run('erasures'))).toEqual([ERASED, ERASING]);
    expect(requests.map(([, path]) => path)).toEqual([`${ROUTE}?limit=1000`, `${ROUTE}?limit=1000&after=1`]);
    const table = await run('erasures', '--format', 'table');
    expect(table.stdout).toMatch(/^ID +STATE +SCOPE +ROW KEY +COLUMN +REF +ASKED +CELLS +WAITS FOR\n/u);
    expect(table.stdout).toMatch(/ erased +column +6e3a0f9c\S+ +BASE +- +2026-01-31T08:00:00Z +3 +-$/mu);
  });

  it('are listed without those that are done', async () => {
    await run('erasures', '--open', '--limit', '5');
    expect(requests).toEqual([['GET', `${ROUTE}?open=true&limit=5`, undefined]]);
  });

  it('are shown', async () => {
    seen = [ERASING];
    expect(linesOf(await run('erasure', ERASING.id))).toEqual([ERASING]);
    expect(requests).toEqual([['GET', `${ROUTE}/${ERASING.id}`, undefined]]);
  });
});

describe('erasures again', () => {
  const records = [
    { ...ERASED, reason: 'before', requested_at: '2026-01-30T08:00:00.000Z', cleaned: { ...ERASING.cleaned } },
    {
      ...ERASED,
      reason: 'done since',
      requested_at: '2026-01-30T08:00:00.000Z',
      cleaned: { ...ERASED.cleaned, nodes: '2026-01-31T09:00:00.000Z' },
    },
    { ...ERASED, reason: 'since', scope: 'versions', up_to: 3, requested_at: '2026-01-31T08:00:00.000Z' },
    { ...ERASED, reason: 'a row', scope: 'row', column_name: null, requested_at: '2026-02-01T08:00:00.000Z' },
  ] as const satisfies readonly Erasure[];
  const asked = (): unknown[] => requests.filter(([method]) => method === 'POST').map(([, , body]) => body);
  const DONE_SINCE = { row_key: ROW, column_name: 'BASE', reason: 'done since' };
  const SINCE = { row_key: ROW, column_name: 'BASE', up_to: 3, reason: 'since' };
  const A_ROW = { row_key: ROW, reason: 'a row' };

  it('are repeated if they were asked for, or done, since a time, each with its own reason', async () => {
    pages = [records.slice(0, 2), records.slice(2)];
    const ran = await run('erasures', 'again', '--since', '2026-01-31T08:00:00Z');
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(ran)).toEqual([{ asked: 3, erased: 3, erasing: 0, failed: [] }]);
    expect(asked()).toEqual([DONE_SINCE, SINCE, A_ROW]);
  });

  it('leave out those that were asked for later', async () => {
    pages = [records];
    const ran = await run('erasures', 'again', '--since', '2026-01-31T08:00:00Z', '--until', '2026-02-01T08:00:00Z');
    expect(linesOf(ran)).toMatchObject([{ asked: 2 }]);
    expect(asked()).toEqual([DONE_SINCE, SINCE]);
  });

  it('say which failed, and do the others', async () => {
    pages = [records];
    refused = ['since'];
    const ran = await run('erasures', 'again', '--since', '2026-01-31T08:00:00Z');
    expect(ran.code).toBe(2);
    expect(linesOf(ran)).toEqual([
      { asked: 3, erased: 2, erasing: 0, failed: [{ id: ERASED.id, code: 'invalid_field', message: 'reason: no' }] },
    ]);
  });

  it('end with 5 where some are not done everywhere', async () => {
    seen = [ERASED, ERASING];
    pages = [records];
    const ran = await run('erasures', 'again', '--since', '2026-01-31T08:00:00Z');
    expect(ran).toMatchObject({ code: 5, stderr: expect.stringContaining('schemaless erasures --open') });
    expect(linesOf(ran)).toMatchObject([{ asked: 3, erased: 1, erasing: 2 }]);
  });

  it('take records that were kept in a file', async () => {
    const file = join(folder, 'erasures.ndjson');
    writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const ran = await run('erasures', 'again', '--since', '2026-02-01T00:00:00Z', '--records', file);
    expect(linesOf(ran)).toMatchObject([{ asked: 1, erased: 1 }]);
    expect(requests).toEqual([['POST', ROUTE, A_ROW]]);
  });

  it.each([
    ['no time', [], "required option '--since <time>' not specified"],
    ['a time without zone', ['--since', '2026-01-31'], '--since: wanted a time with zone'],
    ['an end that is none', ['--since', '2026-01-31T08:00:00Z', '--until', 'now'], '--until: wanted a time with zone'],
    ['a file that is not there', ['--since', '2026-01-31T08:00:00Z', '--records', 'none'], '--records: wanted records'],
  ])('are refused before anything is sent: %s', async (_what, parameters, message) => {
    const ran = await run('erasures', 'again', ...parameters);
    expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
    expect(requests).toEqual([]);
  });

  it('are refused where a file holds something else', async () => {
    const file = join(folder, 'cells.ndjson');
    writeFileSync(file, '{"row_key": "x"}\n');
    const ran = await run('erasures', 'again', '--since', '2026-01-31T08:00:00Z', '--records', file);
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining(`line 1 of ${file}`) });
    expect(requests).toEqual([]);
  });
});

it('a subject that comes by standard input is in no argument, and so in no history', async () => {
  const forget = command('forget', '--subject', '-', '--reason', 'request 4711', '--yes');
  expect(await runCommand(forget, { folder, stdin: 'Ann Example\n' })).toMatchObject({ code: 0 });
  expect(requests[0]?.[2]).toEqual({ subject: 'Ann Example', reason: 'request 4711' });
});

it('a subject is forgotten, with a warning where there was no key to delete', async () => {
  const forget = ['forget', '--subject', 'Ann', '--reason', 'request 4711', '--yes'];
  expect(await run(...forget)).toMatchObject({ code: 0, stderr: '' });
  forgotten = { ...FORGOTTEN, had_key: false };
  const ran = await run(...forget);
  expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('no key of this subject was there') });
  expect(linesOf(ran)).toEqual([forgotten]);
});

it('retention shows the rules and what was erased by them', async () => {
  const ran = await run('retention');
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(linesOf(ran)).toEqual([KEPT]);
  expect(requests).toEqual([['GET', '/v1/trips/retention', undefined]]);
});

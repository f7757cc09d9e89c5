import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { CommandError, endingOf, exitCodeTable, errorText } from '../../../infra/cli/errors.ts';
import { tableOf } from '../../../infra/cli/commands/explain.ts';
import { readConditions } from '../../../infra/cli/commands/indexes.ts';
import { readStart } from '../../../infra/cli/commands/tail.ts';
import { quantile } from '../../../infra/cli/commands/ping.ts';
import { errorOf } from '../../../shared/client/problem.ts';
import { FilesError } from '../../../shared/files/files-error.ts';
import { ERRORS, SchemalessError, type ErrorCode } from '../../../shared/errors.ts';

describe('conditions', () => {
  it('are read with each sign, and with the brackets of the API', () => {
    const read = (text: string): unknown => readConditions([text]);
    expect(read('city=Lisbon')).toEqual({ city: { eq: 'Lisbon' } });
    expect(read('fare.total>=10')).toEqual({ 'fare.total': { gte: '10' } });
    expect(read('fare.total[gte]=10')).toEqual(read('fare.total>=10'));
    expect(read('a!=b=c')).toEqual({ a: { ne: 'b=c' } });
    expect(read('a<')).toEqual({ a: { lt: '' } });
  });

  it('of the same field in a list are one', () => {
    expect(readConditions(['x=1', 'a[in]=b', 'a[in]=c'])).toEqual({ x: { eq: '1' }, a: { in: ['b', 'c'] } });
    expect(() => readConditions(['x=1', 'x=2'])).toThrow('x: wanted one value');
  });

  it.each(['', 'a', '=b', 'a[]=b', 'a[gt]>b', 'a[like]=b'])('that are none are refused: %j', (text) => {
    expect(() => readConditions([text])).toThrow('condition: wanted FIELD=VALUE');
  });
});

it('a log begins at its start, its end, an added id or a time', () => {
  expect(['start', 'now', '1000', '2026-01-31T09:00:00+01:00'].map(readStart)).toEqual([
    'start',
    'now',
    { id: 1000 },
    { since: '2026-01-31T08:00:00.000000Z' },
  ]);
  for (const text of ['', 'then', '-1', '1.5', '2026-01-31'])
    expect(() => readStart(text)).toThrow('--from: wanted start, now, an added id, or a time with zone');
});

it('quantiles are values that were measured', () => {
  const hundred = Array.from({ length: 100 }, (_, position) => position + 1);
  expect([quantile(hundred, 0.5), quantile(hundred, 0.99), quantile([7], 0.99), quantile([], 0.5)]).toEqual([
    50,
    99,
    7,
    null,
  ]);
});

it('the table of a statement is found in it', () => {
  expect(tableOf('SELECT f0 FROM `trips_0003`.`rider_index_1a2b3c4d` WHERE f0 = ?')).toBe(
    'trips_0003.rider_index_1a2b3c4d',
  );
});

describe('exit codes', () => {
  it('are those of the documents', () => {
    const page = readFileSync(join(PROJECT_ROOT, 'infra/docs/cli.md'), 'utf8');
    expect(page).toContain(exitCodeTable());
  });

  it('follow from the status that a code has, but where no cell is in the way, nor a signature', () => {
    const endings = {
      400: 'usage',
      403: 'denied',
      404: 'notFound',
      405: 'usage',
      409: 'conflict',
      410: 'notFound',
      413: 'usage',
      415: 'usage',
      500: 'internal',
      503: 'unavailable',
    };
    const refused: readonly ErrorCode[] = [
      'managed_by_deployment',
      'fixed_definition',
      'still_defined',
      'would_discard_data',
      'move_refused',
    ];
    for (const code of Object.keys(ERRORS) as ErrorCode[]) {
      const ending = refused.includes(code) ? 'usage' : endings[ERRORS[code].status];
      expect([code, endingOf(new SchemalessError(code, ''))]).toEqual([code, ending]);
    }
  });

  it('tell denied requests, refusals of the gateway and unforeseen errors apart', () => {
    expect(endingOf(errorOf({ message: 'Forbidden' }, 403))).toBe('denied');
    expect(endingOf(errorOf({ message: 'Too many requests' }, 429))).toBe('unavailable');
    expect(endingOf(errorOf({ code: 'brand_new', detail: '?' }, 418))).toBe('internal');
    expect(endingOf(new CommandError('', { ending: 'denied' }))).toBe('denied');
    expect(endingOf(new TypeError())).toBe('internal');
    // Cells were stored.
    expect(endingOf(new FilesError('too_many_rejects', 'too many'))).toBe('rejects');
  });

  it.each([
    ['usage', { code: 'ENOENT', syscall: 'open', path: '/home/me/one.ndjson' }],
    ['usage', { code: 'EACCES', syscall: 'mkdir', path: 'backup' }],
    ['usage', { code: 'EISDIR', syscall: 'read' }],
    ['internal', { code: 'EACCES', syscall: 'connect', address: '192.0.2.1' }],
    ['internal', { code: 'EPERM', syscall: 'write' }],
    ['internal', { code: 'ENOENT', syscall: 'spawn tail', path: 'tail' }],
    ['internal', { code: 'ENOENT', syscall: 'open', path: '/usr/lib/node_modules/@schemaless-store/core/x.json' }],
  ])('are %s for %o of the system', (ending, fault) => {
    expect(endingOf(Object.assign(new Error('refused'), fault))).toBe(ending);
  });

  it('is not for want of a signature where an environment goes by its deployments', () => {
    const text = errorText(new SchemalessError('managed_by_deployment', 'not here'));
    expect(text).toMatch(/^error: managed_by_deployment/u);
    expect(text).not.toContain('Sign the request');
  });
});

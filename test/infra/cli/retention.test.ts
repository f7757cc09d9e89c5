import { beforeEach, expect, it } from 'vitest';
import type { Purge } from '../../../shared/contract/retention-operations.ts';
import { HOLD, KEPT, PURGE } from '../../functions/support/fake-retention.ts';
import { fakeApi } from './fake-api.ts';
import { linesOf } from './run-command.ts';

const PURGED: Purge = { ...PURGE, state: 'purged', purged_at: '2026-01-31T08:03:00.000Z', waits_for: null };
/** What a purge is seen to be, one poll after the other. */
let seen: readonly Purge[] = [];
beforeEach(() => {
  seen = [];
});

const { requests, run } = fakeApi(({ method, path }) => {
  const purge = seen[0] ?? PURGED;
  if (path.includes('/holds')) return [200, method === 'GET' ? { holds: [HOLD], next: null } : HOLD];
  seen = seen.slice(1);
  return [200, path.endsWith('/purge') ? purge : { ...KEPT, purge }];
});

it('retention shows the rules and what was erased by them', async () => {
  const ran = await run('retention');
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(linesOf(ran)).toEqual([{ ...KEPT, purge: PURGED }]);
});

it('holds are put, listed and released', async () => {
  expect(linesOf(await run('holds', 'put', 'case-17', '--subject', 'rider#1', '--reason', 'evidence'))).toEqual([HOLD]);
  expect(linesOf(await run('holds'))).toEqual([HOLD]);
  expect(linesOf(await run('holds', 'release', 'case-17', '--subject', 'rider#1'))).toEqual([HOLD]);
  expect(requests).toEqual([
    ['PUT', '/v1/trips/holds', { hold: 'case-17', subject: 'rider#1', reason: 'evidence' }],
    ['GET', '/v1/trips/holds?limit=1000', undefined],
    ['DELETE', '/v1/trips/holds?hold=case-17&subject=rider%231', undefined],
  ]);
});

it('purge waits until it is done, and says what the tables took', async () => {
  seen = [PURGE, PURGED];
  const ran = await run('purge');
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(linesOf(ran)).toEqual([PURGED]);
});

it('purge ends with 5 where it goes on', async () => {
  seen = [PURGE, PURGE];
  const ran = await run('purge', '--wait', '0');
  expect(ran.code).toBe(5);
  expect(ran.stderr).toContain(PURGE.waits_for ?? '');
});

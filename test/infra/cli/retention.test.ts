import { expect, it } from 'vitest';
import { KEPT } from '../../functions/support/fake-erasures.ts';
import { fakeApi } from './fake-api.ts';
import { linesOf } from './run-command.ts';

const { requests, run } = fakeApi(() => [200, KEPT]);

it('retention shows the rules and what was erased by them', async () => {
  const ran = await run('retention');
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(linesOf(ran)).toEqual([KEPT]);
  expect(requests).toEqual([['GET', '/v1/trips/retention', undefined]]);
});

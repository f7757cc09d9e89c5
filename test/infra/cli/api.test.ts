import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakeApi } from './fake-api.ts';
import { linesOf } from './run-command.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const { requests, run, folder } = fakeApi(({ path }) =>
  path === '/v1/health' ? [503, { status: 'down' }] : [200, {}],
);

describe('schemaless api', () => {
  it('lists the operations with their parameters', async () => {
    const listed = linesOf(await run('api')) as readonly { readonly operation: string }[];
    expect(listed.find(({ operation }) => operation === 'getTrigger')).toMatchObject({
      parameters: ['trigger', 'limit', 'after'],
    });
  });

  it('refuses a time of two words, and asks nothing', async () => {
    expect((await run('triggers', 'rewind', 'bill_rider', '2026-01-31', '08:00:00Z')).code).toBe(2);
    expect(requests).toEqual([]);
  });

  it('rewinds by a command that says nothing of a dry run', async () => {
    expect((await run('triggers', 'rewind', 'bill_rider', '0=0')).code).toBe(0);
    expect(requests.splice(0)).toMatchObject([
      ['POST', '/v1/trips/triggers/bill_rider/rewind', { to: { 0: 0 }, dry_run: false }],
    ]);
  });

  it('calls one with parameters of path, query and body', async () => {
    await run('api', 'getTrigger', 'trigger=bill_rider', 'limit=1');
    await run('api', 'queryIndex', 'index=i', 'city[in]=Lisbon', 'city[in]=Porto', 'constructor=x');
    await run('api', 'createMove', 'shard=2', 'to=4711', 'switch=true');
    await run('api', 'rewindTrigger', 'trigger=bill_rider', 'to={"3":17}', 'dry_run=true');
    await run('api', 'eraseCells', `row_key=${ROW}`, 'column_name=BASE', 'up_to=3', 'reason=7');
    writeFileSync(join(folder, 'trip.json'), '{"fare": 9007199254740993}');
    await run(
      'api',
      'putCell',
      `row_key=${ROW}`,
      'column_name=BASE',
      'ref_key=1',
      `body=@${join(folder, 'trip.json')}`,
    );
    expect(requests.map(([method, path]) => `${String(method)} ${String(path)}`)).toEqual([
      'GET /v1/trips/triggers/bill_rider?limit=1',
      'GET /v1/trips/indexes/i?city%5Bin%5D=Lisbon&city%5Bin%5D=Porto&constructor=x',
      'POST /v1/trips/moves',
      'POST /v1/trips/triggers/bill_rider/rewind',
      'POST /v1/trips/erasures',
      `PUT /v1/trips/cells/${ROW}/BASE/1`,
    ]);
    expect(requests.slice(2, 5).map(([, , body]) => body)).toEqual([
      { shard: 2, to: '4711', switch: true },
      { to: { 3: 17 }, dry_run: true },
      { row_key: ROW, column_name: 'BASE', up_to: 3, reason: '7' },
    ]);
  });

  it.each([
    ['an operation that there is not', ['putCells']],
    ['a parameter that there is not', ['pauseTrigger', 'trigger=t', '__proto__=1']],
    ['a parameter twice', ['eraseCells', `row_key=${ROW}`, `row_key=${ROW}`, 'reason=x']],
    ['a switch twice', ['rewindTrigger', 'trigger=t', 'to=start', 'dry_run=false', 'dry_run=true']],
    ['no number', ['createMove', 'shard=two', 'to=group-2']],
    ['a body that is no JSON', ['putCell', `row_key=${ROW}`, 'column_name=BASE', 'ref_key=1', 'body={city:"Lisbon"}']],
    [
      'a body with a member twice',
      ['putCell', `row_key=${ROW}`, 'column_name=BASE', 'ref_key=1', 'body={"a":1,"a":2}'],
    ],
  ])('sends nothing with %s', async (_what, parameters) => {
    expect((await run('api', ...parameters)).code).not.toBe(0);
    expect(requests).toEqual([]);
  });

  it('shows the health where no node answers', async () => {
    expect(linesOf(await run('api', 'getHealth'))).toEqual([{ status: 'down' }]);
    expect(requests).toHaveLength(1);
  });
});

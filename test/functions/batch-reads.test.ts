import { describe, expect, it } from 'vitest';
import { gatewayResult } from '../../functions/http/answer.ts';
import { writeJson } from '../../shared/body/json.ts';
import { LIMITS, type Cell, type Json } from '../../shared/cell.ts';
import { SchemalessError } from '../../shared/errors.ts';
import type { LookUpKey } from '../../shared/store/look-ups.ts';
import { fakeDeployment, type FakeDeployment } from './support/fake-deployment.ts';
import { gateway } from './support/gateway.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const DRIVER = '7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10';
const CELL: Cell = {
  row_key: ROW,
  column_name: 'BASE',
  ref_key: 1,
  body: {},
  added_id: 1,
  shard: 0,
  created_at: '2026-01-31T08:00:00.000000Z',
};
const SERVED = { served_by: 'writer', stale: false } as const;
const never = new Promise<never>(() => undefined);
const cellsIn = (...columns: string[]): string[] => columns.map((column) => `cells/${ROW}/${column}`);

function asking(deployment: FakeDeployment) {
  const ask = gateway(deployment);
  const read = (route: string, body: unknown) =>
    ask({ method: 'POST', path: `/v1/trips/${route}`, body: JSON.stringify(body) });
  return {
    ask,
    read,
    async answers(
      route: string,
      targets: readonly string[],
    ): Promise<readonly ({ readonly status: number; readonly body: Record<string, unknown> } | null)[]> {
      const { status, json } = await read(route, { targets });
      expect(status).toBe(200);
      return json['answers'] as readonly { readonly status: number; readonly body: Record<string, unknown> }[];
    },
  };
}

describe('many reads in one request', () => {
  it.each([
    [
      'batch-read',
      [
        `cells/${ROW}/BASE`,
        `cells/${ROW}/BASE/1?read=reader`,
        `cells/${ROW}/BASE/9`,
        `cells/${ROW}/FARE%20ADJUSTMENT`,
        `cells/${ROW}/B%2541SE`,
        `cells/${ROW}/BASE/versions?limit=1`,
        `rows/${ROW}?column=BASE&column=a%2Cb`,
      ],
    ],
    [
      'batch-read',
      [
        'cells/x/BASE',
        `cells/${ROW}/BASE/one`,
        `cells/${ROW}/BASE?bogus=1`,
        `cells/${ROW}/BASE?read=nobody`,
        `cells/${ROW}/BASE/1?min_added_id=-1`,
        `cells/${ROW}/BASE/1`,
        `rows/${ROW}?bogus=1`,
        `rows/${ROW}?min_added_id=-1`,
      ],
    ],
    [
      'batch-query',
      [
        `indexes/driver_index?driver_uuid=${DRIVER}`,
        'indexes/driver_index',
        'indexes/driver_index?city=Lisbon',
        'indexes/nope?city=Lisbon',
      ],
    ],
  ])('are answered by %s as each would be by itself, problems included', async (route, targets) => {
    const deployment = fakeDeployment();
    for (const [column_name, ref_key, body] of [
      ['BASE', 0, 2n ** 63n],
      ['BASE', 1, { driver_uuid: DRIVER }],
      ['FARE ADJUSTMENT', 0, 1.5],
      ['a,b', 0, null],
    ] as const)
      await deployment.trips.put({ row_key: ROW, column_name, ref_key, body });
    const { ask, answers } = asking(deployment);
    const alone = await Promise.all(targets.map((target) => ask({ method: 'GET', path: `/v1/trips/${target}` })));
    const expected = alone.map(({ status, json }) => ({
      status,
      body: 'request_id' in json ? { ...json, request_id: expect.any(String) } : json,
    }));
    expect(await answers(route, targets)).toEqual(expected);
  });

  it.each([
    ['batch-read', { targets: 'rows' }, 'invalid_field', 'targets'],
    ['batch-read', {}, 'missing_field', 'targets'],
    ['batch-read', { targets: [1] }, 'invalid_field', 'targets[0]'],
    ['batch-read', { targets: [`rows/${ROW}`, 'shards'] }, 'invalid_field', 'targets[1]'],
    ['batch-read', { targets: ['indexes/driver_index?city=Lisbon'] }, 'invalid_field', 'targets[0]'],
    ['batch-query', { targets: [`rows/${ROW}`] }, 'invalid_field', 'targets[0]'],
    [
      'batch-read',
      { targets: Array.from({ length: LIMITS.batchReads + 1 }, () => `rows/${ROW}`) },
      'invalid_field',
      'targets',
    ],
    ['batch-read', { targets: [], read: 'reader' }, 'unknown_field', 'read'],
  ])('are refused as a whole where it cannot be said what they are: %s %j', async (route, body, code, field) => {
    expect(await asking(fakeDeployment()).read(route, body)).toMatchObject({ status: 400, json: { code, field } });
  });

  it('of an index may share a statement, which one that comes by itself may not', async () => {
    const asked: (boolean | undefined)[] = [];
    const { ask, answers } = asking(
      fakeDeployment({
        async query({ batched }) {
          asked.push(batched);
          return { entries: [], next: null, ...SERVED };
        },
      }),
    );
    const target = `indexes/driver_index?driver_uuid=${DRIVER}`;
    await answers('batch-query', [target, target]);
    await ask({ method: 'GET', path: `/v1/trips/${target}` });
    expect(asked).toEqual([true, true, false]);
  });

  it('are told of what is no UTF-8, or empty, for which there is no other route', async () => {
    const targets = [`cells/${ROW}/%ff`, `cells/${ROW}//1`, `cells/${ROW}/BASE/`];
    expect(await asking(fakeDeployment()).answers('batch-read', targets)).toMatchObject([
      { status: 400, body: { code: 'invalid_field', field: 'column_name' } },
      { status: 400, body: { code: 'missing_field', field: 'column_name' } },
      { status: 400, body: { code: 'missing_field', field: 'ref_key' } },
    ]);
  });

  it('of cells, with the same query, are asked at once; what fails all that were not answered takes nothing from the rest', async () => {
    const asked: (readonly LookUpKey[])[] = [];
    const failing = fakeDeployment();
    const { answers } = asking({
      ...failing,
      datastore: async (name) => ({
        ...(await failing.datastore(name)),
        async findEach(keys, { read }, tell) {
          asked.push(keys);
          if (read === 'reader') throw new SchemalessError('unavailable', 'no topology');
          tell(1, { cell: CELL, ...SERVED });
          throw new SchemalessError('overloaded', 'no room');
        },
      }),
    });
    const found = await answers('batch-read', [
      `cells/${ROW}/A`,
      `cells/${ROW}/B?read=reader`,
      `cells/${ROW}/BASE/1`,
      `rows/${ROW}`,
    ]);
    expect(asked.map((keys) => keys.map(({ column_name }) => column_name))).toEqual([['A', 'BASE'], ['B']]);
    expect(found).toMatchObject([
      { status: 503, body: { code: 'overloaded' } },
      { status: 503, body: { code: 'unavailable' } },
      { status: 200, body: { column_name: 'BASE' } },
      { status: 200, body: { cells: [] } },
    ]);
  });

  it('fail alone where an answer cannot be written, and are null where there is none', async () => {
    const failing = fakeDeployment();
    const circular: { itself?: unknown } = {};
    circular.itself = circular;
    const { answers } = asking({
      ...failing,
      datastore: async (name) => ({
        ...(await failing.datastore(name)),
        async findEach(keys, _options, tell) {
          if (keys.length === 1) return;
          tell(0, { cell: { ...CELL, body: circular as Json }, ...SERVED });
          tell(2, { cell: CELL, ...SERVED });
        },
      }),
    });
    expect(await answers('batch-read', cellsIn('A', 'B', 'BASE'))).toMatchObject([
      { status: 500, body: { code: 'internal' } },
      null,
      { status: 200, body: { column_name: 'BASE' } },
    ]);
    expect(await answers('batch-read', cellsIn('A'))).toEqual([null]);
  });

  it('do not wait for one that takes long once others are done', async () => {
    const { answers } = asking(
      fakeDeployment({
        getLatest: async ({ column_name }) =>
          column_name === 'SLOW' ? never : { cell: { ...CELL, column_name }, ...SERVED },
      }),
    );
    const found = await answers('batch-read', cellsIn('A', 'SLOW', 'B'));
    expect(found.map((answer) => answer && answer.body['column_name'])).toEqual(['A', null, 'B']);
  });

  it('wait for all that end together', async () => {
    const { answers } = asking(
      fakeDeployment({ getLatest: () => new Promise((resolve) => setImmediate(resolve, { cell: CELL, ...SERVED })) }),
    );
    const found = await answers('batch-read', cellsIn('BASE', 'BASE', 'BASE'));
    expect(found.map((answer) => answer?.status)).toEqual([200, 200, 200]);
  });

  it('leave out what the answer has no room for', async () => {
    const { answers } = asking(
      fakeDeployment({
        async getLatest({ column_name }) {
          const body = 'x'.repeat(LIMITS.answerBytes / 2 + (column_name === 'A' ? 0 : 1000));
          return { cell: { ...CELL, column_name, body }, ...SERVED };
        },
      }),
    );
    const found = await answers('batch-read', cellsIn('A', 'B', 'A'));
    expect(found.map((answer) => answer?.status)).toEqual([200, undefined, undefined]);
  });

  it('fail each by itself', async () => {
    const { answers } = asking(
      fakeDeployment({
        get: async () => {
          throw new SchemalessError('unavailable', 'group-1 does not answer', { more: { group: 'group-1' } });
        },
        getLatest: async () => {
          throw new TypeError('a bug');
        },
        row: async () => ({ cells: [CELL], next: null, ...SERVED }),
      }),
    );
    expect(await answers('batch-read', [`cells/${ROW}/A/1`, `cells/${ROW}/A`, `rows/${ROW}`])).toMatchObject([
      { status: 503, body: { code: 'unavailable', retry: 'later', group: 'group-1' } },
      { status: 500, body: { code: 'internal', detail: expect.not.stringContaining('a bug') } },
      { status: 200, body: { cells: [{ added_id: 1 }] } },
    ]);
  });
});

describe('an answer', () => {
  it.each([true, false])('says whether JSON.parse reads it without loss: %s', (isPlain) => {
    const { headers } = gatewayResult({ status: 200, json: { text: '{}', isPlain } }, 'request-1');
    expect(headers?.['x-json']).toBe(isPlain ? 'plain' : undefined);
  });

  it('is plain as the writer of its JSON says, alone and in a batch', async () => {
    // A worker that has read an object whose keys JavaScript reorders takes no text for plain any more.
    const plain = writeJson({}).isPlain ? 'plain' : undefined;
    for (const [body, expected] of [
      [{ total: 12.5, large: 1e300 }, plain],
      [{ total: 2n ** 63n }, undefined],
    ] as const) {
      const { ask } = asking(fakeDeployment({ getLatest: async () => ({ cell: { ...CELL, body }, ...SERVED }) }));
      const path = `cells/${ROW}/BASE`;
      const alone = await ask({ method: 'GET', path: `/v1/trips/${path}` });
      const batch = await ask({
        method: 'POST',
        path: '/v1/trips/batch-read',
        body: JSON.stringify({ targets: [path] }),
      });
      expect([alone.headers['x-json'], batch.headers['x-json']]).toEqual([expected, expected]);
    }
  });
});

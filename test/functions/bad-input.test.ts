import { describe, expect, it } from 'vitest';
import { fakeDeployment, SHARDS } from './support/fake-deployment.ts';
import { gateway, type GatewayRequest } from './support/gateway.ts';

// `test/shared/api/verdicts.test.ts` tests that input which does not fit the document is refused by its field's name,
// before any operation. This file tests rules that no schema states, and the wording of refusals.

/** A request; then of its refusal the code and the field, a part of `wanted` and a part of `got`. */
type Refusal = readonly [request: GatewayRequest, problem: string, wanted: string, got: string];

/** By code, where it is not 400. */
const STATUS: Readonly<Record<string, number>> = { body_too_large: 413, request_too_large: 413, unknown_shard: 404 };

type Body = GatewayRequest['body'];
const get = (path: string): GatewayRequest => ({ method: 'GET', path });
const put = (path: string, body?: Body): GatewayRequest => ({ method: 'PUT', path, body });
const post = (path: string, body?: Body): GatewayRequest => ({ method: 'POST', path, body });
const times = <Item>(count: number, make: (position: number) => Item): Item[] =>
  Array.from({ length: count }, (_, position) => make(position));

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const CELL = `/v1/trips/cells/${ROW}/BASE/1`;
const OK = { row_key: ROW, column_name: 'BASE', ref_key: 0, body: 1 };
const MIB = 1024 * 1024;
const TOO_DEEP = '['.repeat(101) + ']'.repeat(101);

const putAt = (rest: string): GatewayRequest => put(`/v1/trips/cells/${ROW}/${rest}`, '1');
const putBody = (body: Body): GatewayRequest => put(CELL, body);
const PUTS: readonly Refusal[] = [
  [put('/v1/trips/cells/17/BASE/1', '1'), 'invalid_field row_key', 'UUID', '"17"'],
  [putAt('A%2FB/1'), 'invalid_field column_name', 'batch-put', 'A/B'],
  [putAt('%2E%2E/1'), 'invalid_field column_name', '".."', '".."'],
  [putAt(`${'A'.repeat(256)}/1`), 'invalid_field column_name', '255 bytes', '256 bytes'],
  [put(CELL.replace('trips', '%2574rips'), '1'), 'invalid_field datastore', 'decoded once', '%74rips'],
  [putAt('B%2541SE/1'), 'invalid_field column_name', 'decoded once', 'B%41SE'],
  [putAt('BASE/%2531'), 'invalid_field ref_key', 'decoded once', '%31'],
  [putAt('BASE/-1'), 'invalid_field ref_key', '0 to 2^53-1', '"-1"'],
  [putAt('BASE/01'), 'invalid_field ref_key', 'digits', '"01"'],
  [put(CELL), 'missing_field body', 'JSON', 'nothing'],
  [putBody(Buffer.from('\ufeff1')), 'invalid_json body', 'JSON value', '\ufeff'],
  [putBody(Buffer.from([0x22, 0xff, 0x22])), 'invalid_json body', 'UTF-8', 'not UTF-8'],
  [putBody(TOO_DEEP), 'invalid_json body', '100 deep', 'deeper'],
  [putBody('{"a":1,"a":1}'), 'invalid_json body', 'once', '"a"'],
  [putBody(`"${'x'.repeat(MIB)}"`), 'body_too_large body', `${MIB} bytes`, `${MIB + 2} bytes`],
  [putBody(' '.repeat(4 * MIB) + '1'), 'request_too_large body', `${4 * MIB} bytes`, `${4 * MIB + 1} bytes`],
  [putBody(Buffer.alloc(4 * MIB + 1, ' ')), 'request_too_large body', `${4 * MIB} bytes`, 'bytes'],
];

const BATCH = '/v1/trips/batch-put';
const cells = (...items: unknown[]): string => JSON.stringify({ cells: items });
const batch = (...items: unknown[]): GatewayRequest => post(BATCH, cells(...items));
const ZONELESS = { ...OK, created_at: '2020-01-31T08:00:00' };
const PAST_2_53 = cells(OK).replace('"ref_key":0', '"ref_key":9007199254740993');
const BATCH_PUTS: readonly Refusal[] = [
  [post(BATCH, '[]'), 'invalid_field body', 'object', 'an array'],
  [post(BATCH, cells(OK).replace('"body":1', `"body":${TOO_DEEP}`)), 'invalid_json body', 'deep at most', 'deeper'],
  [batch(...times(101, (ref_key) => ({ ...OK, ref_key }))), 'invalid_field cells', '100', '101'],
  [batch(OK, OK, OK, { ...OK, foo: 1 }), 'unknown_field cells[3].foo', 'ref_key', 'cells[3].foo'],
  [batch({ ...OK, column_name: 'é'.repeat(128) }), 'invalid_field cells[0].column_name', '255', '256 bytes'],
  [post(BATCH, PAST_2_53), 'invalid_field cells[0].ref_key', '2^53-1', '9007199254740993'],
  [batch(OK, { ...OK, body: 'x'.repeat(MIB) }), 'body_too_large cells[1].body', `${MIB}`, `${MIB + 2}`],
  [post('/v1/trips/batch-restore', cells(ZONELESS)), 'invalid_field cells[0].created_at', 'with zone', '2020-01-31T08'],
];

const versions = `/v1/trips/cells/${ROW}/BASE/versions`;
const log = '/v1/trips/shards/0/cells';
const postIds = (path: string, count: number): GatewayRequest =>
  post(`/v1/trips/buffer/${path}`, JSON.stringify({ ids: times(count, String) }));
const READS: readonly Refusal[] = [
  [get(`${versions}?limit=3&limit=4`), 'invalid_field limit', 'one value', '3, then 4'],
  [get(`${versions}?limit=1001`), 'invalid_field limit', '1 to 1000', '1001'],
  [get(`${versions}?order=up`), 'invalid_field order', 'desc or asc', '"up"'],
  [get(`${CELL}?sealed=yes`), 'invalid_field sealed', 'true or false', '"yes"'],
  [get(`${CELL}?read=Writer`), 'invalid_field read', 'writer or reader', '"Writer"'],
  [get(`/v1/trips/rows/${ROW}?column=%FF`), 'invalid_field column', 'UTF-8', '%FF'],
  [get('/v1/trips/shards/first/cells?after=0'), 'invalid_field shard', 'number', '"first"'],
  [get(`/v1/trips/shards/${SHARDS}/cells?after=0`), 'unknown_shard shard', `0 to ${SHARDS - 1}`, `${SHARDS}`],
  [get(log), 'missing_field after', 'since', 'nothing'],
  [get(`${log}?after=1&since=2026-01-31T08:00:00Z`), 'invalid_field since', 'either', 'both'],
  [get(`${log}?since=2026-01-31T08:00:00`), 'invalid_field since', 'zone', '2026-01-31T08:00:00'],
  [get(`${log}?since=2026-02-30T08:00:00Z`), 'invalid_field since', 'time', '2026-02-30'],
  [
    post('/v1/trips/log', `{"locations":[{"shard":${SHARDS},"after":0}]}`),
    'unknown_shard locations[0].shard',
    `0 to ${SHARDS - 1}`,
    `${SHARDS}`,
  ],
  [postIds('conflicts/discard', 1001), 'invalid_field ids', '1000', '1001'],
  [postIds('in-doubt/keep', 101), 'invalid_field ids', 'an array of 1 to 100 items', '101'],
];

const DRIVER = 'driver_uuid=7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10';
const index = '/v1/trips/indexes/driver_index';
const OPERATORS = '[ne] [lt] [lte] [gt] [gte] [in]';
const query = (parameters: string): GatewayRequest => get(`${index}?${DRIVER}&${parameters}`);
const QUERIES: readonly Refusal[] = [
  [get(`${index}/count`), 'missing_field driver_uuid', 'shard field', 'nothing'],
  [get(`${index}/count?${DRIVER}&order=city`), 'unknown_field order', 'driver_uuid', 'order'],
  [get(`${index}?city=Lisbon`), 'missing_field driver_uuid', 'shard field', 'nothing'],
  [get(`${index}?limit=1`), 'missing_field driver_uuid', 'shard field', 'nothing'],
  [query(DRIVER.replace('=', '[gt]=')), 'invalid_field driver_uuid', 'equality', 'further'],
  [
    query('colour=red'),
    'unknown_field colour',
    'driver_uuid, city, created_at, fare.total, riders, is_completed',
    'colour',
  ],
  [query('riders[foo]=1'), 'invalid_field riders[foo]', OPERATORS, 'riders[foo]'],
  [query('riders%5Beq%5D=1'), 'invalid_field riders[eq]', OPERATORS, 'riders[eq]'],
  [query('riders[=1'), 'invalid_field riders[', OPERATORS, 'riders['],
  [query('riders]=1'), 'invalid_field riders]', OPERATORS, 'riders]'],
  [query('riders[gt]x=1'), 'invalid_field riders[gt]x', OPERATORS, 'riders[gt]x'],
  [query('riders[gt][lt]=1'), 'invalid_field riders[gt][lt]', OPERATORS, 'riders[gt][lt]'],
  [query('[gt]=1'), 'invalid_field [gt]', OPERATORS, '[gt]'],
  [query('limit[lt]=1'), 'invalid_field limit[lt]', 'without an operator', 'limit[lt]'],
  [query('city=Lisbon&city=Porto'), 'invalid_field city', 'one value', 'Lisbon, then Porto'],
  [query('riders[gt]=1&riders%5Bgt%5D=2'), 'invalid_field riders[gt]', 'one value', '1, then 2'],
  [query('limit=1&limit=2'), 'invalid_field limit', 'one value', '1, then 2'],
  [query(times(101, (value) => `riders[in]=${value}`).join('&')), 'invalid_field riders[in]', '1 to 100', '101'],
  [query('riders[in]=1&riders[in]=two'), 'invalid_field riders[in]', 'integer', '"two"'],
  [query('city=%FF'), 'invalid_field city', 'UTF-8', '%FF'],
  [query('fields=city,colour'), 'invalid_field fields', 'city', 'colour'],
  [query('order=-colour'), 'invalid_field order', 'city', 'colour'],
  [query('column='), 'invalid_field column', '1 to 255', '""'],
  [query('column=*&column=BASE'), 'invalid_field column', '`*` alone', '*, BASE'],
  [query('after=abc'), 'invalid_field after', 'next', 'abc'],
  [query('cursor=abc'), 'unknown_field cursor', 'limit, after', 'cursor'],
  [query('after[gt]=1'), 'invalid_field after[gt]', 'without an operator', 'after[gt]'],
  [query('next=abc'), 'unknown_field next', 'limit, after, order, fields, column, read, explain', 'next'],
];

const trigger = '/v1/trips/triggers/bill_rider';
const REWIND = '"start", "now", a time with zone that has passed, or an object';
const pause = (reason: string): GatewayRequest => post(`${trigger}/pause`, JSON.stringify({ reason }));
const rewind = (to: unknown): GatewayRequest => post(`${trigger}/rewind`, JSON.stringify({ to }));
const discard = (count: number): GatewayRequest =>
  post(`${trigger}/parked/discard`, cells(...times(count, (n) => ({ shard: 0, added_id: n + 1 }))));
const move = (changes: object): GatewayRequest =>
  post('/v1/trips/moves', JSON.stringify({ shard: 2, to: 'group-2', ...changes }));
const erase = (changes: object): GatewayRequest =>
  post('/v1/trips/erasures', JSON.stringify({ row_key: ROW, column_name: 'BASE', reason: 'request 4711', ...changes }));
const MANAGEMENT: readonly Refusal[] = [
  [pause('x'.repeat(501)), 'invalid_field reason', '1 to 500 characters', 'xxx'],
  [post(`${trigger}/dead/replay`, '{"limit":1}'), 'unknown_field limit', 'none at all', 'limit'],
  [rewind('2026-01-31T08:00:00'), 'invalid_field to', REWIND, '2026-01-31'],
  [rewind('2999-01-31T08:00:00Z'), 'invalid_field to', 'has passed', '2999'],
  [rewind({}), 'invalid_field to', 'at least one', 'none'],
  [rewind({ 0: 1, '01': 1 }), 'invalid_field to.01', 'number of a shard', '01'],
  [rewind({ 0: 1, 3: -1 }), 'invalid_field to.3', 'added id, 0', '-1'],
  [post(`${trigger}/parked/discard`, '{"cells":"all"}'), 'invalid_field cells', '"*" for all', '"all"'],
  [discard(1001), 'invalid_field cells', '1000', '1001'],
  [move({ to: 'group 2' }), 'invalid_field to', 'the name of a group', '"group 2"'],
  [move({ complete_after_seconds: 31_536_001 }), 'invalid_field complete_after_seconds', '0 to 31536000', '31536001'],
  [get('/v1/trips/erasures/first'), 'invalid_field erasure', 'id of an erasure', '"first"'],
  [erase({ column_name: '\0BASE' }), 'invalid_field column_name', 'the first above 0x01', 'BASE'],
  [erase({ column_name: 'x'.repeat(255) }), 'invalid_field column_name', 'at most 254 bytes', '255 bytes'],
  [erase({ up_to: 3, ref_key: 3 }), 'invalid_field up_to', 'ref_key', 'both'],
  [erase({ column_name: undefined, up_to: 3 }), 'missing_field column_name', 'column', 'nothing'],
  [erase({ reason: ' ' }), 'invalid_field reason', 'why, in 1 to 500 characters', '" "'],
];

describe('a name that is nearly right', () => {
  it.each([
    ['GET', `${index}?${DRIVER}&limt=1`, 'limit'],
    ['GET', `${index}?${DRIVER}&ctiy=Lisbon`, 'city'],
    ['GET', `${index}?${DRIVER}&colums=BASE`, 'column'],
    ['GET', `${versions}?limits=3`, 'limit'],
    ['GET', `${versions}?Order=asc`, 'order'],
    ['GET', `${CELL}?min_addedid=3`, 'min_added_id'],
    ['GET', `${log}?afer=3`, 'after'],
    ['GET', '/v1/trips/buffer/conflicts?limt=3', 'limit'],
  ])('is answered with what was probably meant: %s %s', async (method, path, meant) => {
    const { status, json } = await gateway(fakeDeployment())({ method, path });
    expect([status, json['code']]).toEqual([400, 'unknown_field']);
    expect(json['detail']).toMatch(new RegExp(`did you mean ${meant}\\?$`, 'u'));
  });

  it.each([`${index}?${DRIVER}&colour=red`, `${versions}?x=1`, `${versions}?${'l'.repeat(4000)}=1`])(
    'is not guessed at where it is another: %.80s',
    async (path) => {
      expect((await gateway(fakeDeployment())({ method: 'GET', path })).json['detail']).not.toContain('did you mean');
    },
  );
});

describe.each(Object.entries({ PUTS, BATCH_PUTS, READS, QUERIES, MANAGEMENT }))('%s', (_name, refusals) => {
  it.each(
    refusals.map((refusal) => {
      const [{ method, path, body = '' }, problem] = refusal;
      return [`${problem} of ${method} ${path.slice(0, 100)} ${String(body).slice(0, 100)}`, ...refusal] as const;
    }),
  )('are refused: %s', async (_request, request, problem, wanted, got) => {
    const [code = '', field] = problem.split(' ');
    const status = STATUS[code] ?? 400;
    const asked: unknown[][] = [];
    const deployment = fakeDeployment({}, [], asked);
    const answer = await gateway(deployment)(request);
    expect(answer).toMatchObject({
      status,
      headers: { 'content-type': 'application/problem+json' },
      json: { status, code, field, retry: 'never' },
    });
    expect(answer.json['wanted']).toContain(wanted);
    expect(answer.json['got']).toContain(got);
    expect((await deployment.trips.heads()).filter((head) => 'head' in head && head.head > 0)).toEqual([]);
    expect(asked).toEqual([]);
  });
});

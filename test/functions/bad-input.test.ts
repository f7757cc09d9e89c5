import { describe, expect, it } from 'vitest';
import { fakeDeployment, SHARDS } from './support/fake-deployment.ts';
import { gateway, type GatewayRequest } from './support/gateway.ts';
import { describeRefusals, get, post, put, times, type Body, type Refusal } from './support/refusals.ts';

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
  [putAt('BASE/1.5'), 'invalid_field ref_key', 'integer', '"1.5"'],
  [putAt('BASE/01'), 'invalid_field ref_key', 'digits', '"01"'],
  [putAt('BASE/9007199254740992'), 'invalid_field ref_key', '2^53-1', '9007199254740992'],
  [put(CELL), 'missing_field body', 'JSON', 'nothing'],
  [putBody('{"a":1,}'), 'invalid_json body', 'key', '"}"'],
  [putBody('{"a":'), 'invalid_json body', 'JSON value', 'the end'],
  [putBody('1 2'), 'invalid_json body', 'the end', '2'],
  [putBody(Buffer.from('\ufeff1')), 'invalid_json body', 'JSON value', '\ufeff'],
  [putBody(Buffer.from([0x22, 0xff, 0x22])), 'invalid_json body', 'UTF-8', 'not UTF-8'],
  [putBody(TOO_DEEP), 'invalid_json body', '100 deep', 'deeper'],
  [putBody('{"a":1,"a":1}'), 'invalid_json body', 'once', '"a"'],
  [putBody('"\\ud800"'), 'invalid_json body', 'Unicode', 'surrogate'],
  [putBody('{"a":18446744073709551617}'), 'invalid_json body', '64 bits', '18446744073709551617'],
  [putBody(`"${'x'.repeat(MIB)}"`), 'body_too_large body', `${MIB} bytes`, `${MIB + 2} bytes`],
  [putBody(' '.repeat(4 * MIB) + '1'), 'request_too_large body', `${4 * MIB} bytes`, `${4 * MIB + 1} bytes`],
  [putBody(Buffer.alloc(4 * MIB + 1, ' ')), 'request_too_large body', `${4 * MIB} bytes`, 'bytes'],
  [put(CELL.replace('trips', 'nope'), '1'), 'unknown_datastore datastore', 'trips', 'nope'],
  [put(`${CELL}?upsert=1`, '1'), 'unknown_field upsert', '', 'upsert'],
];

const BATCH = '/v1/trips/batch-put';
const cells = (...items: unknown[]): string => JSON.stringify({ cells: items });
const batch = (...items: unknown[]): GatewayRequest => post(BATCH, cells(...items));
const restore = (...items: unknown[]): GatewayRequest => post('/v1/trips/batch-restore', cells(...items));
const RESTORED = { ...OK, created_at: '2020-01-31T08:00:00Z' };
const ZONELESS = { ...OK, created_at: '2020-01-31T08:00:00' };
const RESTORES: readonly Refusal[] = [
  [batch(RESTORED), 'unknown_field cells[0].created_at', 'body', 'cells[0].created_at'],
  [restore(RESTORED, OK), 'missing_field cells[1].created_at', 'RFC 3339', 'nothing'],
  [restore(RESTORED, ZONELESS), 'invalid_field cells[1].created_at', 'with zone', '2020-01-31T08:00:00'],
];
const PAST_2_53 = cells(OK).replace('"ref_key":0', '"ref_key":9007199254740993');
const BATCH_PUTS: readonly Refusal[] = [
  [post(BATCH, '[]'), 'invalid_field body', 'object', 'an array'],
  [post(BATCH, cells(OK).replace('"body":1', `"body":${TOO_DEEP}`)), 'invalid_json body', 'deep at most', 'deeper'],
  [post(BATCH, '{}'), 'missing_field cells', 'array', 'nothing'],
  [post(BATCH, '{"cells":{}}'), 'invalid_field cells', 'array', 'an object'],
  [post(BATCH, '{"cells":[],"mode":"fast"}'), 'unknown_field mode', 'cells', 'mode'],
  [batch(...times(101, (ref_key) => ({ ...OK, ref_key }))), 'invalid_field cells', '100', '101'],
  [batch(OK, null), 'invalid_field cells[1]', 'object', 'null'],
  [batch(OK, OK, OK, { ...OK, foo: 1 }), 'unknown_field cells[3].foo', 'ref_key', 'cells[3].foo'],
  [batch({ ...OK, row_key: undefined }), 'missing_field cells[0].row_key', 'UUID', 'nothing'],
  [batch(OK, { ...OK, body: undefined }), 'missing_field cells[1].body', 'JSON', 'nothing'],
  [batch(OK, { ...OK, column_name: '' }), 'invalid_field cells[1].column_name', '1 to 255', '""'],
  [batch({ ...OK, column_name: 'é'.repeat(128) }), 'invalid_field cells[0].column_name', '255', '256 bytes'],
  [batch(OK, OK, OK, { ...OK, ref_key: '1' }), 'invalid_field cells[3].ref_key', 'integer', '"1"'],
  [post(BATCH, PAST_2_53), 'invalid_field cells[0].ref_key', '2^53-1', '9007199254740993'],
  [batch({ ...OK, ref_key: 0.5 }), 'invalid_field cells[0].ref_key', 'integer', '0.5'],
  [batch(OK, { ...OK, body: 'x'.repeat(MIB) }), 'body_too_large cells[1].body', `${MIB}`, `${MIB + 2}`],
];

const versions = `/v1/trips/cells/${ROW}/BASE/versions`;
const log = '/v1/trips/shards/0/cells';
const postLog = (body: string): GatewayRequest => post('/v1/trips/log', body);
const batchGet = (...keys: unknown[]): GatewayRequest => post('/v1/trips/batch-get', JSON.stringify({ keys }));
const discardConflicts = (body: string): GatewayRequest => post('/v1/trips/buffer/conflicts/discard', body);
const keepUndecided = (...ids: unknown[]): GatewayRequest =>
  post('/v1/trips/buffer/undecided/keep', JSON.stringify({ ids }));
const READS: readonly Refusal[] = [
  [get(`${versions}?limits=3`), 'unknown_field limits', 'limit, order, after', 'limits'],
  [get(`${versions}?limit=3&limit=4`), 'invalid_field limit', 'one value', '3, then 4'],
  [get(`${versions}?limit=0`), 'invalid_field limit', '1 to 1000', '0'],
  [get(`${versions}?limit=1001`), 'invalid_field limit', '1 to 1000', '1001'],
  [get(`${versions}?limit=1e2`), 'invalid_field limit', 'integer', '"1e2"'],
  [get(`${versions}?limit=`), 'invalid_field limit', 'integer', '""'],
  [get(`${versions}?order=up`), 'invalid_field order', 'desc or asc', '"up"'],
  [get(`${CELL}?sealed=yes`), 'invalid_field sealed', 'true or false', '"yes"'],
  [get(`${CELL}?read=Writer`), 'invalid_field read', 'writer or reader', '"Writer"'],
  [get(`${CELL}?min_added_id=-1`), 'invalid_field min_added_id', 'integer', '"-1"'],
  [get(`/v1/trips/rows/${ROW}?column=%FF`), 'invalid_field column', 'UTF-8', '%FF'],
  [get(`/v1/trips/rows/${ROW}?column=`), 'invalid_field column', '1 to 255', '""'],
  [get('/v1/trips/shards/first/cells?after=0'), 'invalid_field shard', 'number', '"first"'],
  [get(`/v1/trips/shards/${SHARDS}/cells?after=0`), 'unknown_shard shard', `0 to ${SHARDS - 1}`, `${SHARDS}`],
  [get(log), 'missing_field after', 'since', 'nothing'],
  [get(`${log}?after=1&since=2026-01-31T08:00:00Z`), 'invalid_field since', 'either', 'both'],
  [get(`${log}?since=2026-01-31T08:00:00`), 'invalid_field since', 'zone', '2026-01-31T08:00:00'],
  [get(`${log}?since=2026-02-30T08:00:00Z`), 'invalid_field since', 'time', '2026-02-30'],
  [
    postLog('{"locations":[{"shard":0,"after":0},{"shard":0,"after":-1}]}'),
    'invalid_field locations[1].after',
    'added id',
    '-1',
  ],
  [
    postLog(`{"locations":[{"shard":${SHARDS},"after":0}]}`),
    'unknown_shard locations[0].shard',
    `0 to ${SHARDS - 1}`,
    `${SHARDS}`,
  ],
  [postLog('{"locations":[{"shard":0,"offset":0}]}'), 'unknown_field locations[0].offset', 'after', 'offset'],
  [postLog('{"locations":[],"limit":"10"}'), 'invalid_field limit', 'integer', '"10"'],
  [
    batchGet({ row_key: ROW, column_name: 'A' }, { row_key: 'x', column_name: 'A' }),
    'invalid_field keys[1].row_key',
    'UUID',
    '"x"',
  ],
  [batchGet({ row_key: ROW, column_name: 'A', ref_key: null }), 'invalid_field keys[0].ref_key', 'integer', 'null'],
  [discardConflicts(JSON.stringify({ ids: times(1001, String) })), 'invalid_field ids', '1000', '1001'],
  [discardConflicts('{"ids":[]}'), 'invalid_field ids', 'an array of 1 to 1000 items', '0'],
  [discardConflicts('{"ids":["a",1]}'), 'invalid_field ids[1]', 'id', '1'],
  [keepUndecided(), 'invalid_field ids', 'an array of 1 to 100 items', '0'],
  [keepUndecided(...times(101, String)), 'invalid_field ids', 'an array of 1 to 100 items', '101'],
  [keepUndecided('a', ''), 'invalid_field ids[1]', 'id', '""'],
];

const DRIVER = 'driver_uuid=7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10';
const index = '/v1/trips/indexes/driver_index';
const OPERATORS = '[ne] [lt] [lte] [gt] [gte] [in]';
const query = (parameters: string): GatewayRequest => get(`${index}?${DRIVER}&${parameters}`);
const QUERIES: readonly Refusal[] = [
  [get(`${index}/count`), 'missing_field driver_uuid', 'shard field', 'nothing'],
  [get(`${index}/count?${DRIVER}&limit=10001`), 'invalid_field limit', '10000', '10001'],
  [get(`${index}/count?${DRIVER}&order=city`), 'unknown_field order', 'driver_uuid', 'order'],
  [get('/v1/trips/indexes/nope'), 'unknown_index index', 'index', 'nope'],
  [get('/v1/trips/indexes?limit=3'), 'unknown_field limit', 'none', 'limit'],
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
  [query('limit=1001'), 'invalid_field limit', '1 to 1000', '1001'],
  [query('after=abc'), 'invalid_field after', 'next', 'abc'],
  [query('cursor=abc'), 'unknown_field cursor', 'limit, after', 'cursor'],
  [query('after[gt]=1'), 'invalid_field after[gt]', 'without an operator', 'after[gt]'],
  [query('next=abc'), 'unknown_field next', 'limit, after, order, fields, column, read, explain', 'next'],
  [query('read=both'), 'invalid_field read', 'writer or reader', 'both'],
  [query('explain=1'), 'invalid_field explain', 'true or false', '"1"'],
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

describeRefusals({
  puts: PUTS,
  'batch puts': BATCH_PUTS,
  'batch restores': RESTORES,
  'other requests': READS,
  'index queries': QUERIES,
});

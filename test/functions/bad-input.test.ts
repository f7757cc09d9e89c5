import { describe, expect, it } from 'vitest';
import type { Datastore } from '../../shared/contract/datastore.ts';
import { fakeDeployment, SHARDS } from './support/fake-deployment.ts';
import { AWAY, ERASED, fakeErasures } from './support/fake-erasures.ts';
import { fakeMoves } from './support/fake-moves.ts';
import { fakeTriggers } from './support/fake-triggers.ts';
import { gateway, type GatewayRequest } from './support/gateway.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const CELL = `/v1/trips/cells/${ROW}/BASE/1`;
const OK = { row_key: ROW, column_name: 'BASE', ref_key: 0, body: 1 };
const MIB = 1024 * 1024;
const times = <Item>(count: number, make: (position: number) => Item): Item[] =>
  Array.from({ length: count }, (_, position) => make(position));

/** What is wrong, in a request; then of its refusal the code and the field, a part of `wanted` and a part of `got`. */
type Refusal = readonly [what: string, request: GatewayRequest, problem: string, wanted: string, got: string];

/** By code, where it is not 400. */
const STATUS: Readonly<Record<string, number>> = {
  body_too_large: 413,
  request_too_large: 413,
  unknown_datastore: 404,
  unknown_erasure: 404,
  unknown_index: 404,
  unknown_move: 404,
  unknown_shard: 404,
  unknown_trigger: 404,
};

type Body = GatewayRequest['body'];
const get = (path: string): GatewayRequest => ({ method: 'GET', path });
const put = (path: string, body?: Body): GatewayRequest => ({ method: 'PUT', path, body });
const post = (path: string, body?: Body): GatewayRequest => ({ method: 'POST', path, body });

const putAt = (rest: string): GatewayRequest => put(`/v1/trips/cells/${ROW}/${rest}`, '1');
const putBody = (body: Body): GatewayRequest => put(CELL, body);
const PUTS: readonly Refusal[] = [
  ['another wish', put(`${CELL}?with=body`, '1'), 'invalid_field with', 'created_at', 'body'],
  ['a row key that is no UUID', put('/v1/trips/cells/17/BASE/1', '1'), 'invalid_field row_key', 'UUID', '"17"'],
  ['a column name for the batch routes', putAt('A%2FB/1'), 'invalid_field column_name', 'batch-put', 'A/B'],
  ['a column name of two dots', putAt('%2E%2E/1'), 'invalid_field column_name', '".."', '".."'],
  ['a name over 255 bytes', putAt(`${'A'.repeat(256)}/1`), 'invalid_field column_name', '255 bytes', '256 bytes'],
  ['a negative ref key', putAt('BASE/-1'), 'invalid_field ref_key', '0 to 2^53-1', '"-1"'],
  ['a fractional ref key', putAt('BASE/1.5'), 'invalid_field ref_key', 'integer', '"1.5"'],
  ['a ref key with a leading zero', putAt('BASE/01'), 'invalid_field ref_key', 'digits', '"01"'],
  ['a ref key past 2^53-1', putAt('BASE/9007199254740992'), 'invalid_field ref_key', '2^53-1', '9007199254740992'],
  ['no body', put(CELL), 'missing_field body', 'JSON', 'nothing'],
  ['a body that is not JSON', putBody('{"a":1,}'), 'invalid_json body', 'key', '"}"'],
  ['a body that ends early', putBody('{"a":'), 'invalid_json body', 'JSON value', 'the end'],
  ['two values', putBody('1 2'), 'invalid_json body', 'the end', '2'],
  ['a byte order mark', putBody(Buffer.from('\ufeff1')), 'invalid_json body', 'JSON value', '\ufeff'],
  ['bytes that are not UTF-8', putBody(Buffer.from([0x22, 0xff, 0x22])), 'invalid_json body', 'UTF-8', 'not UTF-8'],
  ['a body too deep', putBody('['.repeat(101) + ']'.repeat(101)), 'invalid_json body', '100 deep', 'deeper'],
  ['a duplicate key', putBody('{"a":1,"a":1}'), 'invalid_json body', 'once', '"a"'],
  ['a lone surrogate', putBody('"\\ud800"'), 'invalid_json body', 'Unicode', 'surrogate'],
  [
    'a number that cannot be kept',
    putBody('{"a":18446744073709551617}'),
    'invalid_json body',
    '64 bits',
    '18446744073709551617',
  ],
  ['a body over 1 MiB', putBody(`"${'x'.repeat(MIB)}"`), 'body_too_large body', `${MIB} bytes`, `${MIB + 2} bytes`],
  [
    'a request over 4 MiB',
    putBody(' '.repeat(4 * MIB) + '1'),
    'request_too_large body',
    `${4 * MIB} bytes`,
    `${4 * MIB + 1} bytes`,
  ],
  [
    'a request over 4 MiB in base64',
    putBody(Buffer.alloc(4 * MIB + 1, ' ')),
    'request_too_large body',
    `${4 * MIB} bytes`,
    'bytes',
  ],
  ['an unknown datastore', put(CELL.replace('trips', 'nope'), '1'), 'unknown_datastore datastore', 'trips', 'nope'],
  ['a query parameter', put(`${CELL}?upsert=1`, '1'), 'unknown_field upsert', 'with', 'upsert'],
];

const BATCH = '/v1/trips/batch-put';
const cells = (...items: unknown[]): string => JSON.stringify({ cells: items });
const batch = (...items: unknown[]): GatewayRequest => post(BATCH, cells(...items));
const restore = (...items: unknown[]): GatewayRequest => post('/v1/trips/batch-restore', cells(...items));
const RESTORED = { ...OK, created_at: '2020-01-31T08:00:00Z' };
const RESTORES: readonly Refusal[] = [
  ['a time among new cells', batch(RESTORED), 'unknown_field cells[0].created_at', 'body', 'cells[0].created_at'],
  ['a restored cell without time', restore(RESTORED, OK), 'missing_field cells[1].created_at', 'RFC 3339', 'nothing'],
  [
    'a time without its zone',
    restore(RESTORED, { ...RESTORED, created_at: '2020-01-31T08:00:00' }),
    'invalid_field cells[1].created_at',
    'with zone',
    '2020-01-31T08:00:00',
  ],
];
const PAST_2_53 = cells(OK).replace('"ref_key":0', '"ref_key":9007199254740993');
const BATCH_PUTS: readonly Refusal[] = [
  ['a batch that is no object', post(BATCH, '[]'), 'invalid_field body', 'object', 'an array'],
  ['a batch without cells', post(BATCH, '{}'), 'missing_field cells', 'array', 'nothing'],
  ['cells that are no array', post(BATCH, '{"cells":{}}'), 'invalid_field cells', 'array', 'an object'],
  ['another member', post(BATCH, '{"cells":[],"mode":"fast"}'), 'unknown_field mode', 'cells', 'mode'],
  ['101 cells', batch(...times(101, (ref_key) => ({ ...OK, ref_key }))), 'invalid_field cells', '100', '101'],
  ['an item that is no object', batch(OK, null), 'invalid_field cells[1]', 'object', 'null'],
  [
    'an unknown member of an item',
    batch(OK, OK, OK, { ...OK, foo: 1 }),
    'unknown_field cells[3].foo',
    'ref_key',
    'cells[3].foo',
  ],
  ['one without a row key', batch({ ...OK, row_key: undefined }), 'missing_field cells[0].row_key', 'UUID', 'nothing'],
  ['an item without a body', batch(OK, { ...OK, body: undefined }), 'missing_field cells[1].body', 'JSON', 'nothing'],
  ['an empty name', batch(OK, { ...OK, column_name: '' }), 'invalid_field cells[1].column_name', '1 to 255', '""'],
  [
    'a column name over 255 bytes of UTF-8',
    batch({ ...OK, column_name: 'é'.repeat(128) }),
    'invalid_field cells[0].column_name',
    '255',
    '256 bytes',
  ],
  ['a ref key as text', batch(OK, OK, OK, { ...OK, ref_key: '1' }), 'invalid_field cells[3].ref_key', 'integer', '"1"'],
  ['a ref key past 2^53-1', post(BATCH, PAST_2_53), 'invalid_field cells[0].ref_key', '2^53-1', '9007199254740993'],
  ['a fractional ref key', batch({ ...OK, ref_key: 0.5 }), 'invalid_field cells[0].ref_key', 'integer', '0.5'],
  ['a large body', batch(OK, { ...OK, body: 'x'.repeat(MIB) }), 'body_too_large cells[1].body', `${MIB}`, `${MIB + 2}`],
];

const versions = `/v1/trips/cells/${ROW}/BASE/versions`;
const log = '/v1/trips/shards/0/cells';
const postLog = (body: string): GatewayRequest => post('/v1/trips/log', body);
const batchGet = (...keys: unknown[]): GatewayRequest => post('/v1/trips/batch-get', JSON.stringify({ keys }));
const discardConflicts = (body: string): GatewayRequest => post('/v1/trips/buffer/conflicts/discard', body);
const READS: readonly Refusal[] = [
  ['an unknown query parameter', get(`${versions}?limits=3`), 'unknown_field limits', 'limit, order, after', 'limits'],
  ['a parameter given twice', get(`${versions}?limit=3&limit=4`), 'invalid_field limit', 'one value', '3, then 4'],
  ['a limit of 0', get(`${versions}?limit=0`), 'invalid_field limit', '1 to 1000', '0'],
  ['a limit over 1000', get(`${versions}?limit=1001`), 'invalid_field limit', '1 to 1000', '1001'],
  ['a limit that is no integer', get(`${versions}?limit=1e2`), 'invalid_field limit', 'integer', '"1e2"'],
  ['an empty limit', get(`${versions}?limit=`), 'invalid_field limit', 'integer', '""'],
  ['another order', get(`${versions}?order=up`), 'invalid_field order', 'desc or asc', '"up"'],
  ['another node', get(`${CELL}?read=Writer`), 'invalid_field read', 'writer or reader', '"Writer"'],
  ['a negative min_added_id', get(`${CELL}?min_added_id=-1`), 'invalid_field min_added_id', 'integer', '"-1"'],
  ['a query that is not UTF-8', get(`/v1/trips/rows/${ROW}?column=%FF`), 'invalid_field column', 'UTF-8', '%FF'],
  ['an empty column', get(`/v1/trips/rows/${ROW}?column=`), 'invalid_field column', '1 to 255', '""'],
  ['a shard in words', get('/v1/trips/shards/first/cells?after=0'), 'invalid_field shard', 'number', '"first"'],
  [
    'a shard out of range',
    get(`/v1/trips/shards/${SHARDS}/cells?after=0`),
    'unknown_shard shard',
    `0 to ${SHARDS - 1}`,
    `${SHARDS}`,
  ],
  ['neither after nor since', get(log), 'missing_field after', 'since', 'nothing'],
  ['both after and since', get(`${log}?after=1&since=2026-01-31T08:00:00Z`), 'invalid_field since', 'either', 'both'],
  ['a local time', get(`${log}?since=2026-01-31T08:00:00`), 'invalid_field since', 'zone', '2026-01-31T08:00:00'],
  ['a day that is not', get(`${log}?since=2026-02-30T08:00:00Z`), 'invalid_field since', 'time', '2026-02-30'],
  [
    'a location that is malformed',
    postLog('{"locations":[{"shard":0,"after":0},{"shard":0,"after":-1}]}'),
    'invalid_field locations[1].after',
    'added id',
    '-1',
  ],
  [
    'a location out of range',
    postLog(`{"locations":[{"shard":${SHARDS},"after":0}]}`),
    'unknown_shard locations[0].shard',
    `0 to ${SHARDS - 1}`,
    `${SHARDS}`,
  ],
  [
    'an unknown member of a location',
    postLog('{"locations":[{"shard":0,"offset":0}]}'),
    'unknown_field locations[0].offset',
    'after',
    'offset',
  ],
  ['a limit that is text', postLog('{"locations":[],"limit":"10"}'), 'invalid_field limit', 'integer', '"10"'],
  [
    'a malformed key',
    batchGet({ row_key: ROW, column_name: 'A' }, { row_key: 'x', column_name: 'A' }),
    'invalid_field keys[1].row_key',
    'UUID',
    '"x"',
  ],
  [
    'a ref key of null',
    batchGet({ row_key: ROW, column_name: 'A', ref_key: null }),
    'invalid_field keys[0].ref_key',
    'integer',
    'null',
  ],
  ['1001 ids', discardConflicts(JSON.stringify({ ids: times(1001, String) })), 'invalid_field ids', '1000', '1001'],
  ['ids that are no text', discardConflicts('{"ids":["a",1]}'), 'invalid_field ids[1]', 'id', '1'],
];

const DRIVER = 'driver_uuid=7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10';
const index = '/v1/trips/indexes/driver_index';
const OPERATORS = '[ne] [lt] [lte] [gt] [gte] [in]';
const query = (parameters: string): GatewayRequest => get(`${index}?${DRIVER}&${parameters}`);
const QUERIES: readonly Refusal[] = [
  ['a count without the shard field', get(`${index}/count`), 'missing_field driver_uuid', 'shard field', 'nothing'],
  ['a count beyond its limit', get(`${index}/count?${DRIVER}&limit=10001`), 'invalid_field limit', '10000', '10001'],
  ['a count in an order', get(`${index}/count?${DRIVER}&order=city`), 'unknown_field order', 'driver_uuid', 'order'],
  ['an unknown index', get('/v1/trips/indexes/nope'), 'unknown_index index', 'index', 'nope'],
  ['a parameter where all are listed', get('/v1/trips/indexes?limit=3'), 'unknown_field limit', 'none', 'limit'],
  ['no shard field', get(`${index}?city=Lisbon`), 'missing_field driver_uuid', 'shard field', 'nothing'],
  ['no shard field but a limit', get(`${index}?limit=1`), 'missing_field driver_uuid', 'shard field', 'nothing'],
  ['a range of shard fields', query(DRIVER.replace('=', '[gt]=')), 'invalid_field driver_uuid', 'equality', 'further'],
  [
    'an unknown parameter',
    query('colour=red'),
    'unknown_field colour',
    'driver_uuid, city, created_at, fare.total, riders, is_completed',
    'colour',
  ],
  ['an unknown operator', query('riders[foo]=1'), 'invalid_field riders[foo]', OPERATORS, 'riders[foo]'],
  ['equality in brackets', query('riders%5Beq%5D=1'), 'invalid_field riders[eq]', OPERATORS, 'riders[eq]'],
  ['an open bracket', query('riders[=1'), 'invalid_field riders[', OPERATORS, 'riders['],
  ['a closed bracket', query('riders]=1'), 'invalid_field riders]', OPERATORS, 'riders]'],
  ['text behind the operator', query('riders[gt]x=1'), 'invalid_field riders[gt]x', OPERATORS, 'riders[gt]x'],
  ['two operators', query('riders[gt][lt]=1'), 'invalid_field riders[gt][lt]', OPERATORS, 'riders[gt][lt]'],
  ['an operator without field', query('[gt]=1'), 'invalid_field [gt]', OPERATORS, '[gt]'],
  ['an operator on a known word', query('limit[lt]=1'), 'invalid_field limit[lt]', 'without an operator', 'limit[lt]'],
  ['equality twice', query('city=Lisbon&city=Porto'), 'invalid_field city', 'one value', 'Lisbon, then Porto'],
  ['a range twice', query('riders[gt]=1&riders%5Bgt%5D=2'), 'invalid_field riders[gt]', 'one value', '1, then 2'],
  ['a limit twice', query('limit=1&limit=2'), 'invalid_field limit', 'one value', '1, then 2'],
  [
    '101 values',
    query(times(101, (value) => `riders[in]=${value}`).join('&')),
    'invalid_field riders[in]',
    '1 to 100',
    '101',
  ],
  ['a value of another type', query('riders[in]=1&riders[in]=two'), 'invalid_field riders[in]', 'integer', '"two"'],
  ['a value that is not UTF-8', query('city=%FF'), 'invalid_field city', 'UTF-8', '%FF'],
  ['an unknown field to answer', query('fields=city,colour'), 'invalid_field fields', 'city', 'colour'],
  ['an unknown field to order by', query('order=-colour'), 'invalid_field order', 'city', 'colour'],
  ['an empty column', query('column='), 'invalid_field column', '1 to 255', '""'],
  ['all columns and one', query('column=*&column=BASE'), 'invalid_field column', '`*` alone', '*, BASE'],
  ['a limit over 1000', query('limit=1001'), 'invalid_field limit', '1 to 1000', '1001'],
  ['a place to go on after that is none', query('after=abc'), 'invalid_field after', 'next', 'abc'],
  ['the same by its old name', query('cursor=abc'), 'invalid_field cursor', 'next', 'abc'],
  ['both names of it', query('after=abc&cursor=abc'), 'invalid_field cursor', 'either', 'both'],
  ['an operator on `after`', query('after[gt]=1'), 'invalid_field after[gt]', 'without an operator', 'after[gt]'],
  [
    '`next` where it wants `after`',
    query('next=abc'),
    'unknown_field next',
    'limit, after, order, fields, column, read, explain',
    'next',
  ],
  ['another node', query('read=both'), 'invalid_field read', 'writer or reader', 'both'],
  ['an explain of neither', query('explain=1'), 'invalid_field explain', 'true or false', '"1"'],
];

const trigger = '/v1/trips/triggers/bill_rider';
const REWIND = '"start", "now", a time with zone that has passed, or an object';
const PARKED = { shard: 0, added_id: 1 };
const pause = (body: string): GatewayRequest => post(`${trigger}/pause`, body);
const rewind = (body?: string): GatewayRequest => post(`${trigger}/rewind`, body);
const retry = (...chosen: unknown[]): GatewayRequest => post(`${trigger}/parked/retry`, cells(...chosen));
const discard = (...chosen: unknown[]): GatewayRequest => post(`${trigger}/parked/discard`, cells(...chosen));
const TRIGGERS: readonly Refusal[] = [
  ['an unknown trigger', get('/v1/trips/triggers/nope'), 'unknown_trigger trigger', 'trigger', 'nope'],
  ['an unknown trigger to pause', post('/v1/trips/triggers/nope/pause'), 'unknown_trigger trigger', 'trigger', 'nope'],
  ['a choice of some', post(`${trigger}/dead/discard`, '{"cells":[]}'), 'unknown_field cells', 'none at all', 'cells'],
  ['a choice of which', post(`${trigger}/dead/replay`, '{"limit":1}'), 'unknown_field limit', 'none at all', 'limit'],
  [
    'a datastore that is not there',
    post(`${trigger.replace('trips', 'nope')}/resume`),
    'unknown_datastore datastore',
    'trips',
    'nope',
  ],
  ['a parameter where all are listed', get('/v1/trips/triggers?limit=3'), 'unknown_field limit', 'none', 'limit'],
  ['a shard to go on after in words', get(`${trigger}?after=first`), 'invalid_field after', 'integer', '"first"'],
  ['a limit over 1000', get(`${trigger}?limit=1001`), 'invalid_field limit', '1 to 1000', '1001'],
  ['a reason that is no text', pause('{"reason":1}'), 'invalid_field reason', '500 characters', '1'],
  ['too long a reason', pause(`{"reason":"${'x'.repeat(501)}"}`), 'invalid_field reason', '500 characters', 'xxx'],
  ['an empty reason', pause('{"reason":""}'), 'invalid_field reason', '1 to 500', '""'],
  ['another member than the reason', pause('{"because":"x"}'), 'unknown_field because', 'reason', 'because'],
  ['no place to rewind to', rewind(), 'missing_field body', 'JSON', 'nothing'],
  ['a rewind that says nothing', rewind('{}'), 'missing_field to', REWIND, 'nothing'],
  ['a dry run in words', rewind('{"to":"now","dry_run":"yes"}'), 'invalid_field dry_run', 'true or false', '"yes"'],
  ['a rewind to a word', rewind('{"to":"end"}'), 'invalid_field to', REWIND, '"end"'],
  ['a rewind to a number', rewind('{"to":0}'), 'invalid_field to', REWIND, '0'],
  ['a rewind to null', rewind('{"to":null}'), 'invalid_field to', REWIND, 'null'],
  ['a rewind to a list', rewind('{"to":[1]}'), 'invalid_field to', REWIND, 'an array'],
  ['a rewind to a time without zone', rewind('{"to":"2026-01-31T08:00:00"}'), 'invalid_field to', REWIND, '2026-01-31'],
  ['a rewind to a time to come', rewind('{"to":"2999-01-31T08:00:00Z"}'), 'invalid_field to', 'has passed', '2999'],
  ['a rewind of no shard', rewind('{"to":{}}'), 'invalid_field to', 'at least one', 'none'],
  ['a rewind of no number', rewind('{"to":{"0":1,"01":1}}'), 'invalid_field to.01', 'number of a shard', '01'],
  ['a rewind to below zero', rewind('{"to":{"0":1,"3":-1}}'), 'invalid_field to.3', 'added id, 0', '-1'],
  ['a rewind to an added id that is text', rewind('{"to":{"0":"1"}}'), 'invalid_field to.0', 'added id', '"1"'],
  ['a limit of parked cells of 0', get(`${trigger}/parked?limit=0`), 'invalid_field limit', '1 to 1000', '0'],
  ['a retry that says nothing', post(`${trigger}/parked/retry`, '{}'), 'missing_field cells', '"*" for all', 'nothing'],
  ['a retry of no cell', retry(), 'invalid_field cells', '1 to 1000', '0'],
  ['a discard without a body', post(`${trigger}/parked/discard`), 'missing_field body', 'JSON', 'nothing'],
  ['another word', post(`${trigger}/parked/discard`, '{"cells":"all"}'), 'invalid_field cells', '"*" for all', '"all"'],
  ['a discard of 1001 cells', discard(...times(1001, () => PARKED)), 'invalid_field cells', '1000', '1001'],
  ['a discard of what is no cell', discard(PARKED, 7), 'invalid_field cells[1]', 'object', '7'],
  ['a cell without added id', discard({ shard: 0 }), 'missing_field cells[0].added_id', 'added id', 'nothing'],
  ['an added id of 0', discard({ ...PARKED, added_id: 0 }), 'invalid_field cells[0].added_id', '1 to', '0'],
  ['a shard that is text', retry({ ...PARKED, shard: '0' }), 'invalid_field cells[0].shard', 'shard', '"0"'],
  ['an unknown member', retry({ ...PARKED, row_key: ROW }), 'unknown_field cells[0].row_key', 'added_id', 'row_key'],
];

const moves = '/v1/trips/moves';
const GROUP = 'the name of a group';
const MOST = '0 to 31536000';
const move = (changes: object): GatewayRequest => post(moves, JSON.stringify({ shard: 2, to: 'group-2', ...changes }));
const MOVES: readonly Refusal[] = [
  ['a datastore that is not there', get('/v1/nope/moves'), 'unknown_datastore datastore', 'trips', 'nope'],
  ['a parameter where all are listed', get(`${moves}?limit=3`), 'unknown_field limit', 'none', 'limit'],
  [
    'a parameter where sizes are listed',
    get('/v1/trips/shards/sizes?read=writer'),
    'unknown_field read',
    'none',
    'read',
  ],
  ['a parameter of a step', post(`${moves}/2/switch?force=true`), 'unknown_field force', 'none', 'force'],
  ['a shard in words', get(`${moves}/first`), 'invalid_field shard', 'number of a shard', '"first"'],
  ['a shard below zero', post(`${moves}/-1/cancel`), 'invalid_field shard', 'number of a shard', '"-1"'],
  ['a shard out of range', post(`${moves}/${SHARDS}/verify`), 'unknown_shard shard', '0 to 3', `${SHARDS}`],
  ['a shard that is not being moved', get(`${moves}/0`), 'unknown_move shard', 'being moved', '0'],
  ['a step of such a shard', post(`${moves}/1/complete`), 'unknown_move shard', 'being moved', '1'],
  ['a choice of which', post(`${moves}/2/reverse`, '{"to":"group-1"}'), 'unknown_field to', 'none at all', 'to'],
  ['no move', post(moves), 'missing_field body', 'JSON', 'nothing'],
  ['a move that is none', post(moves, '[2]'), 'invalid_field body', 'shard, to', 'an array'],
  ['a move of no shard', move({ shard: undefined }), 'missing_field shard', 'number of a shard', 'nothing'],
  ['a move of a shard as text', move({ shard: '2' }), 'invalid_field shard', 'number of a shard', '"2"'],
  ['a move of half a shard', move({ shard: 0.5 }), 'invalid_field shard', 'number of a shard', '0.5'],
  ['a move of a shard out of range', move({ shard: SHARDS }), 'unknown_shard shard', '0 to 3', `${SHARDS}`],
  ['a move to nowhere', move({ to: undefined }), 'missing_field to', GROUP, 'nothing'],
  ['a move to an empty name', move({ to: '' }), 'invalid_field to', GROUP, '""'],
  ['a move to a number', move({ to: 2 }), 'invalid_field to', GROUP, '2'],
  ['a move to what is no name', move({ to: 'group 2' }), 'invalid_field to', GROUP, '"group 2"'],
  ['a switch in words', move({ switch: 'yes' }), 'invalid_field switch', 'true or false', '"yes"'],
  ['a switch of null', move({ switch: null }), 'invalid_field switch', 'true or false', 'null'],
  ['seconds below zero', move({ complete_after_seconds: -1 }), 'invalid_field complete_after_seconds', MOST, '-1'],
  [
    'over a year',
    move({ complete_after_seconds: 31_536_001 }),
    'invalid_field complete_after_seconds',
    MOST,
    '31536001',
  ],
  ['seconds as text', move({ complete_after_seconds: '60' }), 'invalid_field complete_after_seconds', MOST, '"60"'],
  ['an unknown member', move({ from: 'group-1' }), 'unknown_field from', 'shard, to, switch', 'from'],
];

const erasures = '/v1/trips/erasures';
const WHY = 'in 1 to 500 characters';
const UNKNOWN = ERASED.id.replace('b7', 'b8');
const erase = (changes: object): GatewayRequest =>
  post(erasures, JSON.stringify({ row_key: ROW, column_name: AWAY, reason: 'request 4711', ...changes }));
const ERASURES: readonly Refusal[] = [
  ['a datastore that is not there', get('/v1/nope/erasures'), 'unknown_datastore datastore', 'trips', 'nope'],
  ['a limit over 1000', get(`${erasures}?limit=1001`), 'invalid_field limit', '1 to 1000', '1001'],
  ['those that are half open', get(`${erasures}?open=half`), 'invalid_field open', 'true or false', '"half"'],
  ['a place to go on after that is none', get(`${erasures}?after=first`), 'invalid_field after', 'id', '"first"'],
  ['a parameter of one', get(`${erasures}/${ERASED.id}?open=true`), 'unknown_field open', 'none', 'open'],
  ['an id that is none', get(`${erasures}/first`), 'invalid_field erasure', 'id of an erasure', '"first"'],
  ['an id that nobody has', get(`${erasures}/${UNKNOWN}`), 'unknown_erasure erasure', 'id of an erasure', UNKNOWN],
  ['nothing to erase', post(erasures), 'missing_field body', 'JSON', 'nothing'],
  ['an erasure that is none', post(erasures, '[]'), 'invalid_field body', 'row_key, column_name', 'an array'],
  ['an erasure of no row', erase({ row_key: undefined }), 'missing_field row_key', 'UUID', 'nothing'],
  ['an erasure of what is no row', erase({ row_key: 'x' }), 'invalid_field row_key', 'UUID', '"x"'],
  ['an erasure of an empty column', erase({ column_name: '' }), 'invalid_field column_name', '1 to 255', '""'],
  [
    'an erasure of an erasure',
    erase({ column_name: '\0BASE' }),
    'invalid_field column_name',
    'the first above 0x01',
    'BASE',
  ],
  ['an erasure of half a version', erase({ ref_key: 0.5 }), 'invalid_field ref_key', 'integer', '0.5'],
  ['an erasure up to a text', erase({ up_to: '3' }), 'invalid_field up_to', 'integer', '"3"'],
  ['an erasure of one, and up to it', erase({ up_to: 3, ref_key: 3 }), 'invalid_field up_to', 'ref_key', 'both'],
  [
    'an erasure of a version of no column',
    erase({ column_name: undefined, ref_key: 3 }),
    'missing_field column_name',
    'column',
    'nothing',
  ],
  ['an erasure without a reason', erase({ reason: undefined }), 'missing_field reason', WHY, 'nothing'],
  ['a blank reason', erase({ reason: ' ' }), 'invalid_field reason', WHY, '" "'],
  ['too long a reason', erase({ reason: 'x'.repeat(501) }), 'invalid_field reason', WHY, 'xxx'],
  ['another member', erase({ because: 'x' }), 'unknown_field because', 'reason', 'because'],
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

describe.each([
  ['puts', PUTS],
  ['batch puts', BATCH_PUTS],
  ['batch restores', RESTORES],
  ['other requests', READS],
  ['index queries', QUERIES],
  ['requests for triggers', TRIGGERS],
  ['requests for moves', MOVES],
  ['requests for erasures', ERASURES],
])('%s', (_name, refusals) => {
  it.each(refusals)('with %s are refused', async (_what, request, problem, wanted, got) => {
    const [code = '', field] = problem.split(' ');
    const status = STATUS[code] ?? 400;
    const asked: unknown[][] = [];
    const deployment = fakeDeployment({ ...fakeTriggers(asked), ...fakeMoves(asked), ...fakeErasures(asked) });
    const answer = await gateway(deployment)(request);
    expect(answer).toMatchObject({
      status,
      headers: { 'content-type': 'application/problem+json' },
      json: { status, code, field, retry: 'never' },
    });
    expect(answer.json['wanted']).toContain(wanted);
    expect(answer.json['got']).toContain(got);
    expect(await cellsOf(deployment.trips)).toBe(0);
    expect(asked).toEqual([]);
  });
});

async function cellsOf(store: Datastore): Promise<number> {
  const heads = await store.heads();
  return heads.reduce((sum, head) => sum + ('head' in head ? head.head : 0), 0);
}

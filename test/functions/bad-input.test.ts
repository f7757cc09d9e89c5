import { describe, expect, it } from 'vitest';
import type { Datastore } from '../../shared/contract/datastore.ts';
import { fakeDeployment, SHARDS } from './support/fake-deployment.ts';
import { fakeTriggers } from './support/fake-triggers.ts';
import { gateway } from './support/gateway.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const CELL = `/v1/trips/cells/${ROW}/BASE/1`;
const OK = { row_key: ROW, column_name: 'BASE', ref_key: 0, body: 1 };
const cells = (...items: unknown[]): string => JSON.stringify({ cells: items });
const MIB = 1024 * 1024;

/** method, path, body; then what the problem has to name: status, code, field, a part of wanted, a part of got. */
type Refusal = readonly [string, string, string, string | Uint8Array | undefined, number, string, string, string, string];

const PUTS: readonly Refusal[] = [
  ['a row key that is no UUID', 'PUT', '/v1/trips/cells/17/BASE/1', '1', 400, 'invalid_field', 'row_key', 'UUID', '"17"'],
  ['a column name for the batch routes', 'PUT', `/v1/trips/cells/${ROW}/A%2FB/1`, '1', 400, 'invalid_field', 'column_name', 'batch-put', 'A/B'],
  ['a column name of two dots', 'PUT', `/v1/trips/cells/${ROW}/%2E%2E/1`, '1', 400, 'invalid_field', 'column_name', '".."', '".."'],
  ['a column name over 255 bytes', 'PUT', `/v1/trips/cells/${ROW}/${'A'.repeat(256)}/1`, '1', 400, 'invalid_field', 'column_name', '255 bytes', '256 bytes'],
  ['a negative ref key', 'PUT', `/v1/trips/cells/${ROW}/BASE/-1`, '1', 400, 'invalid_field', 'ref_key', '0 to 2^53-1', '"-1"'],
  ['a fractional ref key', 'PUT', `/v1/trips/cells/${ROW}/BASE/1.5`, '1', 400, 'invalid_field', 'ref_key', 'integer', '"1.5"'],
  ['a ref key with a leading zero', 'PUT', `/v1/trips/cells/${ROW}/BASE/01`, '1', 400, 'invalid_field', 'ref_key', 'digits', '"01"'],
  ['a ref key past 2^53-1', 'PUT', `/v1/trips/cells/${ROW}/BASE/9007199254740992`, '1', 400, 'invalid_field', 'ref_key', '2^53-1', '9007199254740992'],
  ['no body', 'PUT', CELL, undefined, 400, 'missing_field', 'body', 'JSON', 'nothing'],
  ['a body that is not JSON', 'PUT', CELL, '{"a":1,}', 400, 'invalid_json', 'body', 'key', '"}"'],
  ['a body that ends early', 'PUT', CELL, '{"a":', 400, 'invalid_json', 'body', 'JSON value', 'the end'],
  ['two values', 'PUT', CELL, '1 2', 400, 'invalid_json', 'body', 'the end', '2'],
  ['a byte order mark', 'PUT', CELL, Buffer.from('\ufeff1'), 400, 'invalid_json', 'body', 'JSON value', '\ufeff'],
  ['bytes that are not UTF-8', 'PUT', CELL, Buffer.from([0x22, 0xff, 0x22]), 400, 'invalid_json', 'body', 'UTF-8', 'not UTF-8'],
  ['a body too deep', 'PUT', CELL, '['.repeat(101) + ']'.repeat(101), 400, 'invalid_json', 'body', '100 deep', 'deeper'],
  ['a duplicate key', 'PUT', CELL, '{"a":1,"a":1}', 400, 'invalid_json', 'body', 'once', '"a"'],
  ['a lone surrogate', 'PUT', CELL, '"\\ud800"', 400, 'invalid_json', 'body', 'Unicode', 'surrogate'],
  ['a number that cannot be kept', 'PUT', CELL, '{"a":18446744073709551617}', 400, 'invalid_json', 'body', '64 bits', '18446744073709551617'],
  ['a body over 1 MiB', 'PUT', CELL, `"${'x'.repeat(MIB)}"`, 413, 'body_too_large', 'body', `${MIB} bytes`, `${MIB + 2} bytes`],
  ['a request over 4 MiB', 'PUT', CELL, ' '.repeat(4 * MIB) + '1', 413, 'request_too_large', 'body', `${4 * MIB} bytes`, `${4 * MIB + 1} bytes`],
  ['a request over 4 MiB in base64', 'PUT', CELL, Buffer.alloc(4 * MIB + 1, ' '), 413, 'request_too_large', 'body', `${4 * MIB} bytes`, 'bytes'],
  ['an unknown datastore', 'PUT', CELL.replace('trips', 'nope'), '1', 404, 'unknown_datastore', 'datastore', 'trips', 'nope'],
  ['a query parameter', 'PUT', `${CELL}?upsert=1`, '1', 400, 'unknown_field', 'upsert', 'none', 'upsert'],
];

const BATCH = '/v1/trips/batch-put';
const BATCH_PUTS: readonly Refusal[] = [
  ['a batch that is no object', 'POST', BATCH, '[]', 400, 'invalid_field', 'body', 'object', 'an array'],
  ['a batch without cells', 'POST', BATCH, '{}', 400, 'missing_field', 'cells', 'array', 'nothing'],
  ['cells that are no array', 'POST', BATCH, '{"cells":{}}', 400, 'invalid_field', 'cells', 'array', 'an object'],
  ['another member', 'POST', BATCH, '{"cells":[],"mode":"fast"}', 400, 'unknown_field', 'mode', 'cells', 'mode'],
  ['101 cells', 'POST', BATCH, cells(...Array.from({ length: 101 }, (_, ref_key) => ({ ...OK, ref_key }))), 400, 'invalid_field', 'cells', '100', '101'],
  ['an item that is no object', 'POST', BATCH, cells(OK, null), 400, 'invalid_field', 'cells[1]', 'object', 'null'],
  ['an unknown member of an item', 'POST', BATCH, cells(OK, OK, OK, { ...OK, foo: 1 }), 400, 'unknown_field', 'cells[3].foo', 'ref_key', 'cells[3].foo'],
  ['an item without a row key', 'POST', BATCH, cells({ ...OK, row_key: undefined }), 400, 'missing_field', 'cells[0].row_key', 'UUID', 'nothing'],
  ['an item without a body', 'POST', BATCH, cells(OK, { ...OK, body: undefined }), 400, 'missing_field', 'cells[1].body', 'JSON', 'nothing'],
  ['an empty column name', 'POST', BATCH, cells(OK, { ...OK, column_name: '' }), 400, 'invalid_field', 'cells[1].column_name', '1 to 255', '""'],
  ['a column name over 255 bytes of UTF-8', 'POST', BATCH, cells({ ...OK, column_name: 'é'.repeat(128) }), 400, 'invalid_field', 'cells[0].column_name', '255', '256 bytes'],
  ['a ref key that is text', 'POST', BATCH, cells(OK, OK, OK, { ...OK, ref_key: '1' }), 400, 'invalid_field', 'cells[3].ref_key', 'integer', '"1"'],
  ['a ref key past 2^53-1', 'POST', BATCH, cells(OK).replace('"ref_key":0', '"ref_key":9007199254740993'), 400, 'invalid_field', 'cells[0].ref_key', '2^53-1', '9007199254740993'],
  ['a fractional ref key', 'POST', BATCH, cells({ ...OK, ref_key: 0.5 }), 400, 'invalid_field', 'cells[0].ref_key', 'integer', '0.5'],
  ['a body over 1 MiB', 'POST', BATCH, cells(OK, { ...OK, body: 'x'.repeat(MIB) }), 413, 'body_too_large', 'cells[1].body', `${MIB}`, `${MIB + 2}`],
];

const versions = `/v1/trips/cells/${ROW}/BASE/versions`;
const log = '/v1/trips/shards/0/cells';
const READS: readonly Refusal[] = [
  ['an unknown query parameter', 'GET', `${versions}?limits=3`, undefined, 400, 'unknown_field', 'limits', 'limit, order, after', 'limits'],
  ['a parameter given twice', 'GET', `${versions}?limit=3&limit=4`, undefined, 400, 'invalid_field', 'limit', 'one value', '3, then 4'],
  ['a limit of 0', 'GET', `${versions}?limit=0`, undefined, 400, 'invalid_field', 'limit', '1 to 1000', '0'],
  ['a limit over 1000', 'GET', `${versions}?limit=1001`, undefined, 400, 'invalid_field', 'limit', '1 to 1000', '1001'],
  ['a limit that is no integer', 'GET', `${versions}?limit=1e2`, undefined, 400, 'invalid_field', 'limit', 'integer', '"1e2"'],
  ['an empty limit', 'GET', `${versions}?limit=`, undefined, 400, 'invalid_field', 'limit', 'integer', '""'],
  ['another order', 'GET', `${versions}?order=up`, undefined, 400, 'invalid_field', 'order', 'desc or asc', '"up"'],
  ['another node', 'GET', `${CELL}?read=Writer`, undefined, 400, 'invalid_field', 'read', 'writer or reader', '"Writer"'],
  ['a negative min_added_id', 'GET', `${CELL}?min_added_id=-1`, undefined, 400, 'invalid_field', 'min_added_id', 'integer', '"-1"'],
  ['a query that is not UTF-8', 'GET', `/v1/trips/rows/${ROW}?column=%FF`, undefined, 400, 'invalid_field', 'column', 'UTF-8', '%FF'],
  ['an empty column', 'GET', `/v1/trips/rows/${ROW}?column=`, undefined, 400, 'invalid_field', 'column', '1 to 255', '""'],
  ['a shard that is no number', 'GET', '/v1/trips/shards/first/cells?after=0', undefined, 400, 'invalid_field', 'shard', 'number', '"first"'],
  ['a shard out of range', 'GET', `/v1/trips/shards/${SHARDS}/cells?after=0`, undefined, 404, 'unknown_shard', 'shard', `0 to ${SHARDS - 1}`, `${SHARDS}`],
  ['neither after nor since', 'GET', log, undefined, 400, 'missing_field', 'after', 'since', 'nothing'],
  ['both after and since', 'GET', `${log}?after=1&since=2026-01-31T08:00:00Z`, undefined, 400, 'invalid_field', 'since', 'either', 'both'],
  ['a time without zone', 'GET', `${log}?since=2026-01-31T08:00:00`, undefined, 400, 'invalid_field', 'since', 'zone', '2026-01-31T08:00:00'],
  ['a day that is not', 'GET', `${log}?since=2026-02-30T08:00:00Z`, undefined, 400, 'invalid_field', 'since', 'time', '2026-02-30'],
  ['a location that is malformed', 'POST', '/v1/trips/log', '{"locations":[{"shard":0,"after":0},{"shard":0,"after":-1}]}', 400, 'invalid_field', 'locations[1].after', 'added id', '-1'],
  ['a location out of range', 'POST', '/v1/trips/log', `{"locations":[{"shard":${SHARDS},"after":0}]}`, 404, 'unknown_shard', 'locations[0].shard', `0 to ${SHARDS - 1}`, `${SHARDS}`],
  ['an unknown member of a location', 'POST', '/v1/trips/log', '{"locations":[{"shard":0,"offset":0}]}', 400, 'unknown_field', 'locations[0].offset', 'after', 'offset'],
  ['a limit that is text', 'POST', '/v1/trips/log', '{"locations":[],"limit":"10"}', 400, 'invalid_field', 'limit', 'integer', '"10"'],
  ['a malformed key', 'POST', '/v1/trips/batch-get', JSON.stringify({ keys: [{ row_key: ROW, column_name: 'A' }, { row_key: 'x', column_name: 'A' }] }), 400, 'invalid_field', 'keys[1].row_key', 'UUID', '"x"'],
  ['a ref key of null', 'POST', '/v1/trips/batch-get', JSON.stringify({ keys: [{ row_key: ROW, column_name: 'A', ref_key: null }] }), 400, 'invalid_field', 'keys[0].ref_key', 'integer', 'null'],
  ['1001 ids', 'POST', '/v1/trips/buffer/conflicts/discard', JSON.stringify({ ids: Array.from({ length: 1001 }, String) }), 400, 'invalid_field', 'ids', '1000', '1001'],
  ['ids that are no text', 'POST', '/v1/trips/buffer/conflicts/discard', '{"ids":["a",1]}', 400, 'invalid_field', 'ids[1]', 'id', '1'],
];

const DRIVER = 'driver_uuid=7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10';
const index = '/v1/trips/indexes/driver_index';
const OPERATORS = '[ne] [lt] [lte] [gt] [gte] [in]';
const QUERIES: readonly Refusal[] = [
  ['an unknown index', 'GET', '/v1/trips/indexes/nope', undefined, 404, 'unknown_index', 'index', 'index', 'nope'],
  ['a parameter where all indexes are listed', 'GET', '/v1/trips/indexes?limit=3', undefined, 400, 'unknown_field', 'limit', 'none', 'limit'],
  ['no shard field', 'GET', `${index}?city=Lisbon`, undefined, 400, 'missing_field', 'driver_uuid', 'shard field', 'nothing'],
  ['no shard field but a limit', 'GET', `${index}?limit=1`, undefined, 400, 'missing_field', 'driver_uuid', 'shard field', 'nothing'],
  ['a range on the shard field', 'GET', `${index}?${DRIVER}&${DRIVER.replace('=', '[gt]=')}`, undefined, 400, 'invalid_field', 'driver_uuid', 'equality', 'further'],
  ['an unknown parameter', 'GET', `${index}?${DRIVER}&colour=red`, undefined, 400, 'unknown_field', 'colour', 'driver_uuid, city, created_at, fare.total, riders, is_completed', 'colour'],
  ['an unknown operator', 'GET', `${index}?${DRIVER}&riders[foo]=1`, undefined, 400, 'invalid_field', 'riders[foo]', OPERATORS, 'riders[foo]'],
  ['equality in brackets', 'GET', `${index}?${DRIVER}&riders%5Beq%5D=1`, undefined, 400, 'invalid_field', 'riders[eq]', OPERATORS, 'riders[eq]'],
  ['an open bracket', 'GET', `${index}?${DRIVER}&riders[=1`, undefined, 400, 'invalid_field', 'riders[', OPERATORS, 'riders['],
  ['a closed bracket', 'GET', `${index}?${DRIVER}&riders]=1`, undefined, 400, 'invalid_field', 'riders]', OPERATORS, 'riders]'],
  ['text behind the operator', 'GET', `${index}?${DRIVER}&riders[gt]x=1`, undefined, 400, 'invalid_field', 'riders[gt]x', OPERATORS, 'riders[gt]x'],
  ['two operators', 'GET', `${index}?${DRIVER}&riders[gt][lt]=1`, undefined, 400, 'invalid_field', 'riders[gt][lt]', OPERATORS, 'riders[gt][lt]'],
  ['an operator without field', 'GET', `${index}?${DRIVER}&[gt]=1`, undefined, 400, 'invalid_field', '[gt]', OPERATORS, '[gt]'],
  ['an operator on a reserved word', 'GET', `${index}?${DRIVER}&limit[lt]=1`, undefined, 400, 'invalid_field', 'limit[lt]', 'without an operator', 'limit[lt]'],
  ['equality twice', 'GET', `${index}?${DRIVER}&city=Lisbon&city=Porto`, undefined, 400, 'invalid_field', 'city', 'one value', 'Lisbon, then Porto'],
  ['a range twice', 'GET', `${index}?${DRIVER}&riders[gt]=1&riders%5Bgt%5D=2`, undefined, 400, 'invalid_field', 'riders[gt]', 'one value', '1, then 2'],
  ['a limit twice', 'GET', `${index}?${DRIVER}&limit=1&limit=2`, undefined, 400, 'invalid_field', 'limit', 'one value', '1, then 2'],
  ['101 values', 'GET', `${index}?${DRIVER}&${Array.from({ length: 101 }, (_, value) => `riders[in]=${value}`).join('&')}`, undefined, 400, 'invalid_field', 'riders[in]', '1 to 100', '101'],
  ['a value of another type', 'GET', `${index}?${DRIVER}&riders[in]=1&riders[in]=two`, undefined, 400, 'invalid_field', 'riders[in]', 'integer', '"two"'],
  ['a value that is not UTF-8', 'GET', `${index}?${DRIVER}&city=%FF`, undefined, 400, 'invalid_field', 'city', 'UTF-8', '%FF'],
  ['an unknown field to answer', 'GET', `${index}?${DRIVER}&fields=city,colour`, undefined, 400, 'invalid_field', 'fields', 'city', 'colour'],
  ['an unknown field to order by', 'GET', `${index}?${DRIVER}&order=-colour`, undefined, 400, 'invalid_field', 'order', 'city', 'colour'],
  ['an empty column', 'GET', `${index}?${DRIVER}&column=`, undefined, 400, 'invalid_field', 'column', '1 to 255', '""'],
  ['all columns and one', 'GET', `${index}?${DRIVER}&column=*&column=BASE`, undefined, 400, 'invalid_field', 'column', '`*` alone', '*, BASE'],
  ['a limit over 1000', 'GET', `${index}?${DRIVER}&limit=1001`, undefined, 400, 'invalid_field', 'limit', '1 to 1000', '1001'],
  ['a place to go on after that is none', 'GET', `${index}?${DRIVER}&after=abc`, undefined, 400, 'invalid_field', 'after', 'next', 'abc'],
  ['the same by its old name', 'GET', `${index}?${DRIVER}&cursor=abc`, undefined, 400, 'invalid_field', 'cursor', 'next', 'abc'],
  ['both names of it', 'GET', `${index}?${DRIVER}&after=abc&cursor=abc`, undefined, 400, 'invalid_field', 'cursor', 'either', 'both'],
  ['an operator on the place to go on after', 'GET', `${index}?${DRIVER}&after[gt]=1`, undefined, 400, 'invalid_field', 'after[gt]', 'without an operator', 'after[gt]'],
  ['`next` where it wants `after`', 'GET', `${index}?${DRIVER}&next=abc`, undefined, 400, 'unknown_field', 'next', 'limit, after, order, fields, column, read, explain', 'next'],
  ['another node', 'GET', `${index}?${DRIVER}&read=both`, undefined, 400, 'invalid_field', 'read', 'writer or reader', 'both'],
  ['an explain of neither', 'GET', `${index}?${DRIVER}&explain=1`, undefined, 400, 'invalid_field', 'explain', 'true or false', '"1"'],
];

const trigger = '/v1/trips/triggers/bill_rider';
const REWIND = '"start", a time with zone that has passed, or an object';
const some = (...cells: unknown[]): string => JSON.stringify({ cells });
const TRIGGERS: readonly Refusal[] = [
  ['an unknown trigger', 'GET', '/v1/trips/triggers/nope', undefined, 404, 'unknown_trigger', 'trigger', 'trigger', 'nope'],
  ['an unknown trigger to pause', 'POST', '/v1/trips/triggers/nope/pause', undefined, 404, 'unknown_trigger', 'trigger', 'trigger', 'nope'],
  ['a choice where all are meant', 'POST', `${trigger}/dead/discard`, '{"cells":[]}', 400, 'unknown_field', 'cells', 'none at all', 'cells'],
  ['a choice of what to send again', 'POST', `${trigger}/dead/replay`, '{"limit":1}', 400, 'unknown_field', 'limit', 'none at all', 'limit'],
  ['a datastore that is not there', 'POST', trigger.replace('trips', 'nope') + '/resume', undefined, 404, 'unknown_datastore', 'datastore', 'trips', 'nope'],
  ['a parameter where all are listed', 'GET', '/v1/trips/triggers?limit=3', undefined, 400, 'unknown_field', 'limit', 'none', 'limit'],
  ['a shard to go on after that is no number', 'GET', `${trigger}?after=first`, undefined, 400, 'invalid_field', 'after', 'integer', '"first"'],
  ['a limit over 1000', 'GET', `${trigger}?limit=1001`, undefined, 400, 'invalid_field', 'limit', '1 to 1000', '1001'],
  ['a reason that is no text', 'POST', `${trigger}/pause`, '{"reason":1}', 400, 'invalid_field', 'reason', '500 characters', '1'],
  ['a reason over 500 characters', 'POST', `${trigger}/pause`, JSON.stringify({ reason: 'x'.repeat(501) }), 400, 'invalid_field', 'reason', '500 characters', 'xxx'],
  ['an empty reason', 'POST', `${trigger}/pause`, '{"reason":""}', 400, 'invalid_field', 'reason', '1 to 500', '""'],
  ['another member than the reason', 'POST', `${trigger}/pause`, '{"because":"x"}', 400, 'unknown_field', 'because', 'reason', 'because'],
  ['no place to rewind to', 'POST', `${trigger}/rewind`, undefined, 400, 'missing_field', 'body', 'JSON', 'nothing'],
  ['a rewind that says nothing', 'POST', `${trigger}/rewind`, '{}', 400, 'missing_field', 'to', REWIND, 'nothing'],
  ['a rewind to a word', 'POST', `${trigger}/rewind`, '{"to":"end"}', 400, 'invalid_field', 'to', REWIND, '"end"'],
  ['a rewind to a number', 'POST', `${trigger}/rewind`, '{"to":0}', 400, 'invalid_field', 'to', REWIND, '0'],
  ['a rewind to null', 'POST', `${trigger}/rewind`, '{"to":null}', 400, 'invalid_field', 'to', REWIND, 'null'],
  ['a rewind to a list', 'POST', `${trigger}/rewind`, '{"to":[1]}', 400, 'invalid_field', 'to', REWIND, 'an array'],
  ['a rewind to a time without zone', 'POST', `${trigger}/rewind`, '{"to":"2026-01-31T08:00:00"}', 400, 'invalid_field', 'to', REWIND, '2026-01-31'],
  ['a rewind to a time to come', 'POST', `${trigger}/rewind`, '{"to":"2999-01-31T08:00:00Z"}', 400, 'invalid_field', 'to', 'has passed', '2999'],
  ['a rewind of no shard', 'POST', `${trigger}/rewind`, '{"to":{}}', 400, 'invalid_field', 'to', 'at least one', 'none'],
  ['a rewind of a shard that is no number', 'POST', `${trigger}/rewind`, '{"to":{"0":1,"01":1}}', 400, 'invalid_field', 'to.01', 'number of a shard', '01'],
  ['a rewind to below zero', 'POST', `${trigger}/rewind`, '{"to":{"0":1,"3":-1}}', 400, 'invalid_field', 'to.3', 'added id, 0', '-1'],
  ['a rewind to an added id that is text', 'POST', `${trigger}/rewind`, '{"to":{"0":"1"}}', 400, 'invalid_field', 'to.0', 'added id', '"1"'],
  ['a limit of parked cells of 0', 'GET', `${trigger}/parked?limit=0`, undefined, 400, 'invalid_field', 'limit', '1 to 1000', '0'],
  ['a retry that says nothing', 'POST', `${trigger}/parked/retry`, '{}', 400, 'missing_field', 'cells', '"*" for all', 'nothing'],
  ['a retry of no cell', 'POST', `${trigger}/parked/retry`, some(), 400, 'invalid_field', 'cells', '1 to 1000', '0'],
  ['a discard without a body', 'POST', `${trigger}/parked/discard`, undefined, 400, 'missing_field', 'body', 'JSON', 'nothing'],
  ['a discard of another word', 'POST', `${trigger}/parked/discard`, '{"cells":"all"}', 400, 'invalid_field', 'cells', '"*" for all', '"all"'],
  ['a discard of 1001 cells', 'POST', `${trigger}/parked/discard`, some(...Array.from({ length: 1001 }, () => ({ shard: 0, added_id: 1 }))), 400, 'invalid_field', 'cells', '1000', '1001'],
  ['a discard of what is no cell', 'POST', `${trigger}/parked/discard`, some({ shard: 0, added_id: 1 }, 7), 400, 'invalid_field', 'cells[1]', 'object', '7'],
  ['a cell without added id', 'POST', `${trigger}/parked/discard`, some({ shard: 0 }), 400, 'missing_field', 'cells[0].added_id', 'added id', 'nothing'],
  ['an added id of 0', 'POST', `${trigger}/parked/discard`, some({ shard: 0, added_id: 0 }), 400, 'invalid_field', 'cells[0].added_id', '1 to', '0'],
  ['a shard that is text', 'POST', `${trigger}/parked/retry`, some({ shard: '0', added_id: 1 }), 400, 'invalid_field', 'cells[0].shard', 'shard', '"0"'],
  ['an unknown member of a cell', 'POST', `${trigger}/parked/retry`, some({ shard: 0, added_id: 1, row_key: ROW }), 400, 'unknown_field', 'cells[0].row_key', 'added_id', 'row_key'],
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

  it.each([`${index}?${DRIVER}&colour=red`, `${versions}?x=1`, `${versions}?${'l'.repeat(4000)}=1`])('is not guessed at where it is another: %.80s', async (path) => {
    expect((await gateway(fakeDeployment())({ method: 'GET', path })).json['detail']).not.toContain('did you mean');
  });
});

describe.each([
  ['puts', PUTS],
  ['batch puts', BATCH_PUTS],
  ['other requests', READS],
  ['index queries', QUERIES],
  ['requests for triggers', TRIGGERS],
])('%s', (_name, refusals) => {
  it.each(refusals)('with %s are refused', async (...refusal) => {
    const [, method, path, body, status, code, field, wanted, got] = refusal;
    const asked: unknown[][] = [];
    const deployment = fakeDeployment(fakeTriggers(asked));
    const answer = await gateway(deployment)({ method, path, body });
    expect(answer).toMatchObject({ status, headers: { 'content-type': 'application/problem+json' }, json: { status, code, field, retry: 'never' } });
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

import { SHARDS } from './support/fake-deployment.ts';
import { AWAY, ERASED } from './support/fake-erasures.ts';
import type { GatewayRequest } from './support/gateway.ts';
import { describeRefusals, get, post, times, type Refusal } from './support/refusals.ts';

const ROW = ERASED.row_key;
const WHY = 'why, in 1 to 500 characters';
const cells = (...items: unknown[]): string => JSON.stringify({ cells: items });

const trigger = '/v1/trips/triggers/bill_rider';
const REWIND = '"start", "now", a time with zone that has passed, or an object';
const PARKED = { shard: 0, added_id: 1 };
const pause = (body: string): GatewayRequest => post(`${trigger}/pause`, body);
const rewind = (body?: string): GatewayRequest => post(`${trigger}/rewind`, body);
const retry = (...chosen: unknown[]): GatewayRequest => post(`${trigger}/parked/retry`, cells(...chosen));
const discard = (...chosen: unknown[]): GatewayRequest => post(`${trigger}/parked/discard`, cells(...chosen));
const TRIGGERS: readonly Refusal[] = [
  [get('/v1/trips/triggers/nope'), 'unknown_trigger trigger', 'trigger', 'nope'],
  [post('/v1/trips/triggers/nope/pause'), 'unknown_trigger trigger', 'trigger', 'nope'],
  [post(`${trigger}/dead/discard`, '{"cells":[]}'), 'unknown_field cells', 'none at all', 'cells'],
  [post(`${trigger}/dead/replay`, '{"limit":1}'), 'unknown_field limit', 'none at all', 'limit'],
  [post(`${trigger.replace('trips', 'nope')}/resume`), 'unknown_datastore datastore', 'trips', 'nope'],
  [get('/v1/trips/triggers?limit=3'), 'unknown_field limit', 'none', 'limit'],
  [get(`${trigger}?after=first`), 'invalid_field after', 'integer', '"first"'],
  [get(`${trigger}?limit=1001`), 'invalid_field limit', '1 to 1000', '1001'],
  [pause('{"reason":1}'), 'invalid_field reason', '1 to 500 characters', '1'],
  [pause(`{"reason":"${'x'.repeat(501)}"}`), 'invalid_field reason', '1 to 500 characters', 'xxx'],
  [pause('{"reason":""}'), 'invalid_field reason', '1 to 500 characters', '""'],
  [pause('{"reason":null}'), 'invalid_field reason', '1 to 500 characters', 'null'],
  [pause('{"because":"x"}'), 'unknown_field because', 'reason', 'because'],
  [rewind(), 'missing_field body', 'JSON', 'nothing'],
  [rewind('{}'), 'missing_field to', REWIND, 'nothing'],
  [rewind('{"to":"now","dry_run":"yes"}'), 'invalid_field dry_run', 'true or false', '"yes"'],
  [rewind('{"to":"end"}'), 'invalid_field to', REWIND, '"end"'],
  [rewind('{"to":0}'), 'invalid_field to', REWIND, '0'],
  [rewind('{"to":null}'), 'invalid_field to', REWIND, 'null'],
  [rewind('{"to":[1]}'), 'invalid_field to', REWIND, 'an array'],
  [rewind('{"to":"2026-01-31T08:00:00"}'), 'invalid_field to', REWIND, '2026-01-31'],
  [rewind('{"to":"2999-01-31T08:00:00Z"}'), 'invalid_field to', 'has passed', '2999'],
  [rewind('{"to":{}}'), 'invalid_field to', 'at least one', 'none'],
  [rewind('{"to":{"0":1,"01":1}}'), 'invalid_field to.01', 'number of a shard', '01'],
  [rewind('{"to":{"0":1,"3":-1}}'), 'invalid_field to.3', 'added id, 0', '-1'],
  [rewind('{"to":{"0":"1"}}'), 'invalid_field to.0', 'added id', '"1"'],
  [get(`${trigger}/parked?limit=0`), 'invalid_field limit', '1 to 1000', '0'],
  [post(`${trigger}/parked/retry`, '{}'), 'missing_field cells', '"*" for all', 'nothing'],
  [retry(), 'invalid_field cells', 'an array of 1 to 1000', '0'],
  [discard(), 'invalid_field cells', 'an array of 1 to 1000', '0'],
  [post(`${trigger}/parked/discard`), 'missing_field body', 'JSON', 'nothing'],
  [post(`${trigger}/parked/discard`, '{"cells":"all"}'), 'invalid_field cells', '"*" for all', '"all"'],
  [discard(...times(1001, () => PARKED)), 'invalid_field cells', '1000', '1001'],
  [discard(PARKED, 7), 'invalid_field cells[1]', 'object', '7'],
  [discard({ shard: 0 }), 'missing_field cells[0].added_id', 'added id', 'nothing'],
  [discard({ ...PARKED, added_id: 0 }), 'invalid_field cells[0].added_id', '1 to', '0'],
  [retry({ ...PARKED, shard: '0' }), 'invalid_field cells[0].shard', 'shard', '"0"'],
  [retry({ ...PARKED, row_key: ROW }), 'unknown_field cells[0].row_key', 'added_id', 'row_key'],
];

const moves = '/v1/trips/moves';
const GROUP = 'the name of a group';
const MOST = '0 to 31536000';
const move = (changes: object): GatewayRequest => post(moves, JSON.stringify({ shard: 2, to: 'group-2', ...changes }));
const MOVES: readonly Refusal[] = [
  [get('/v1/nope/moves'), 'unknown_datastore datastore', 'trips', 'nope'],
  [get(`${moves}?limit=3`), 'unknown_field limit', 'none', 'limit'],
  [post(`${moves}/2/switch?force=true`), 'unknown_field force', 'none', 'force'],
  [get(`${moves}/first`), 'invalid_field shard', 'number of a shard', '"first"'],
  [post(`${moves}/-1/cancel`), 'invalid_field shard', 'number of a shard', '"-1"'],
  [post(`${moves}/${SHARDS}/verify`), 'unknown_shard shard', '0 to 3', `${SHARDS}`],
  [get(`${moves}/0`), 'unknown_move shard', 'being moved', '0'],
  [post(`${moves}/1/complete`), 'unknown_move shard', 'being moved', '1'],
  [post(`${moves}/2/reverse`, '{"to":"group-1"}'), 'unknown_field to', 'none at all', 'to'],
  [post(moves), 'missing_field body', 'JSON', 'nothing'],
  [post(moves, '[2]'), 'invalid_field body', 'shard, to', 'an array'],
  [move({ shard: undefined }), 'missing_field shard', 'number of a shard', 'nothing'],
  [move({ shard: '2' }), 'invalid_field shard', 'number of a shard', '"2"'],
  [move({ shard: 0.5 }), 'invalid_field shard', 'number of a shard', '0.5'],
  [move({ shard: SHARDS }), 'unknown_shard shard', '0 to 3', `${SHARDS}`],
  [move({ to: undefined }), 'missing_field to', GROUP, 'nothing'],
  [move({ to: '' }), 'invalid_field to', GROUP, '""'],
  [move({ to: 2 }), 'invalid_field to', GROUP, '2'],
  [move({ to: 'group 2' }), 'invalid_field to', GROUP, '"group 2"'],
  [move({ switch: 'yes' }), 'invalid_field switch', 'true or false', '"yes"'],
  [move({ switch: null }), 'invalid_field switch', 'true or false', 'null'],
  [move({ complete_after_seconds: -1 }), 'invalid_field complete_after_seconds', MOST, '-1'],
  [move({ complete_after_seconds: 31_536_001 }), 'invalid_field complete_after_seconds', MOST, '31536001'],
  [move({ complete_after_seconds: '60' }), 'invalid_field complete_after_seconds', MOST, '"60"'],
  [move({ from: 'group-1' }), 'unknown_field from', 'shard, to, switch', 'from'],
];

const erasures = '/v1/trips/erasures';
const UNKNOWN = ERASED.id.replace('b7', 'b8');
const erase = (changes: object): GatewayRequest =>
  post(erasures, JSON.stringify({ row_key: ROW, column_name: AWAY, reason: 'request 4711', ...changes }));
const ERASURES: readonly Refusal[] = [
  [get('/v1/nope/erasures'), 'unknown_datastore datastore', 'trips', 'nope'],
  [get(`${erasures}?limit=1001`), 'invalid_field limit', '1 to 1000', '1001'],
  [get(`${erasures}?open=half`), 'invalid_field open', 'true or false', '"half"'],
  [get(`${erasures}?after=first`), 'invalid_field after', 'id', '"first"'],
  [get(`${erasures}/${ERASED.id}?open=true`), 'unknown_field open', 'none', 'open'],
  [get(`${erasures}/first`), 'invalid_field erasure', 'id of an erasure', '"first"'],
  [get(`${erasures}/${UNKNOWN}`), 'unknown_erasure erasure', 'id of an erasure', UNKNOWN],
  [post(erasures), 'missing_field body', 'JSON', 'nothing'],
  [post(erasures, '[]'), 'invalid_field body', 'row_key, column_name', 'an array'],
  [erase({ row_key: undefined }), 'missing_field row_key', 'UUID', 'nothing'],
  [erase({ row_key: 'x' }), 'invalid_field row_key', 'UUID', '"x"'],
  [erase({ column_name: '' }), 'invalid_field column_name', '1 to 255', '""'],
  [erase({ column_name: '\0BASE' }), 'invalid_field column_name', 'the first above 0x01', 'BASE'],
  [erase({ column_name: 'x'.repeat(255) }), 'invalid_field column_name', 'at most 254 bytes', '255 bytes'],
  [erase({ ref_key: 0.5 }), 'invalid_field ref_key', 'integer', '0.5'],
  [erase({ ref_key: -1 }), 'invalid_field ref_key', 'integer', '-1'],
  [erase({ up_to: '3' }), 'invalid_field up_to', 'integer', '"3"'],
  [erase({ up_to: 3, ref_key: 3 }), 'invalid_field up_to', 'ref_key', 'both'],
  [erase({ column_name: undefined, ref_key: 3 }), 'missing_field column_name', 'column', 'nothing'],
  [erase({ column_name: undefined, up_to: 3 }), 'missing_field column_name', 'column', 'nothing'],
  [erase({ reason: undefined }), 'missing_field reason', WHY, 'nothing'],
  [erase({ reason: ' ' }), 'invalid_field reason', WHY, '" "'],
  [erase({ reason: 'x'.repeat(501) }), 'invalid_field reason', WHY, 'xxx'],
  [erase({ because: 'x' }), 'unknown_field because', 'reason', 'because'],
];

describeRefusals({
  'requests for triggers': TRIGGERS,
  'requests for moves': MOVES,
  'requests for erasures': ERASURES,
});

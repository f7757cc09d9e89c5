import { parseAddress, parseCount, erasureName, scopeOf, targetAt } from '../../address.ts';
import { isObject, LIMITS, type ErasureScope, type TransactionPlace } from '../../cell.ts';
import { DATASTORE_NAME, MAX_SHARDS, TRIGGER_NAME } from '../../definitions/definitions.ts';
import { invalidField, missingField, SchemalessError } from '../../errors.ts';
import { fingerprintOf } from '../../follow/offsets.ts';
import type { LogEntry } from '../../follow/follower.ts';
import { parseTime } from '../../time.ts';
import type { TriggerMessage, FailingCell } from './trigger-store.ts';

/**
 * Makes the message of a cell. A replay is a cell that was in its log at the last rewind; a later one is new, although
 * the generation stays raised. `replayedTo`: of the shard's mark, read after the cell's generation was known.
 */
export function toMessage(
  cell: LogEntry,
  trigger: { readonly datastore: string; readonly trigger: string },
  replayedTo: number,
): TriggerMessage {
  const { shard, added_id, row_key, column_name, ref_key, created_at, generation, transaction } = cell;
  const erased = targetAt(cell);
  const replay = generation > 0 && added_id <= replayedTo;
  return {
    datastore: trigger.datastore,
    trigger: trigger.trigger,
    shard,
    added_id,
    row_key,
    column_name: erased ? (erased.column_name ?? '') : column_name,
    ref_key,
    created_at,
    replay,
    generation,
    ...(erased && { erasure: scopeOf(erased) }),
    ...(transaction && { transaction }),
  };
}

export function fingerprintOfMessage(message: TriggerMessage): string {
  const { erasure, column_name } = message;
  return fingerprintOf(
    erasure === undefined ? message : { ...message, column_name: erasureName(erasure, column_name) },
  );
}

/** SQS refuses U+FFFE and U+FFFF, and emulators characters beyond U+FFFF: a column name may hold either. */
const REFUSED = /[\uD800-\uDFFF\uFFFE\uFFFF]/g;

const FIELDS = [
  'datastore',
  'trigger',
  'shard',
  'added_id',
  'row_key',
  'column_name',
  'ref_key',
  'created_at',
  'replay',
  'generation',
  'erasure',
  'transaction',
  'size',
  'position',
] as const satisfies readonly (keyof TriggerMessage | keyof TransactionPlace)[];

/** Encodes a message as JSON, with the characters escaped that queues refuse. */
export function encodeMessage(message: TriggerMessage): string {
  const text = JSON.stringify(message, [...FIELDS]);
  return text.replaceAll(REFUSED, (unit) => String.raw`\u` + unit.charCodeAt(0).toString(16));
}

/**
 * Parses a message's body, and ignores unknown members. Throws SchemalessError `invalid_json`; `missing_field` or
 * `invalid_field`, naming the field.
 */
export function parseMessage(text: string): TriggerMessage {
  const fields = parseObject(text);
  const erasure = parseScope(fields['erasure']);
  const { row_key, column_name, ref_key } = parseAddress({
    row_key: fields['row_key'],
    // A row has none.
    column_name: erasure === 'row' ? 'all' : fields['column_name'],
    ref_key: fields['ref_key'],
  });
  return {
    datastore: parseName(fields['datastore'], 'datastore', DATASTORE_NAME),
    trigger: parseName(fields['trigger'], 'trigger', TRIGGER_NAME),
    shard: parseCount(fields['shard'], 'shard', 0, MAX_SHARDS - 1),
    added_id: parseCount(fields['added_id'], 'added_id', 1, Number.MAX_SAFE_INTEGER),
    row_key,
    column_name: erasure === 'row' ? '' : column_name,
    ref_key,
    ...(erasure !== undefined && { erasure }),
    created_at: parseTime(fields['created_at'], 'created_at'),
    replay: parseReplay(fields['replay']),
    generation: parseCount(fields['generation'], 'generation', 0, Number.MAX_SAFE_INTEGER),
    ...parsePlace(fields['transaction']),
  };
}

/** Each shard is a group: its cells are consumed one after another. */
export function groupId(shard: number): string {
  return String(shard);
}

/** Retries of parked cells have a group of their own, so that they delay no others. */
export function retryGroupId(shard: number): string {
  return `${shard}-retry`;
}

/**
 * Equal for repetitions of a cell, so that SQS drops them; different after a rewind, and for another cell after a cut.
 */
export function deduplicationId({
  shard,
  added_id,
  fingerprint,
  generation,
}: Pick<LogEntry, 'shard' | 'added_id' | 'fingerprint' | 'generation'>): string {
  return `${shard}-${added_id}-${fingerprint}-${generation}`;
}

/** Different for each round of retries since a cell was parked. */
export function retryDeduplicationId(
  { message, parked_at = '' }: Pick<FailingCell, 'message' | 'parked_at'>,
  round: number,
): string {
  return `${message.shard}-${message.added_id}-${fingerprintOfMessage(message)}-p${parked_at.replaceAll(/\D/gu, '')}-r${round}`;
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new SchemalessError('invalid_json', 'the message is not JSON', { cause });
  }
  if (!isObject(value)) throw invalidField('message', 'an object', value);
  return value;
}

function parseName(value: unknown, field: string, pattern: RegExp): string {
  const wanted = `a name like ${pattern.source}`;
  if (value === undefined) throw missingField(field, wanted);
  if (typeof value !== 'string' || !pattern.test(value)) throw invalidField(field, wanted, value);
  return value;
}

const SCOPES: readonly ErasureScope[] = ['row', 'column', 'versions', 'cell'];

function parseScope(value: unknown): ErasureScope | undefined {
  const scope = SCOPES.find((one) => one === value);
  if (value !== undefined && scope === undefined) throw invalidField('erasure', SCOPES.join(', '), value);
  return scope;
}

function parsePlace(value: unknown): Pick<TriggerMessage, 'transaction'> {
  if (value === undefined) return {};
  if (!isObject(value)) throw invalidField('transaction', 'an object', value);
  const size = parseCount(value['size'], 'transaction.size', 1, LIMITS.transactionCells);
  return { transaction: { size, position: parseCount(value['position'], 'transaction.position', 0, size - 1) } };
}

function parseReplay(value: unknown): boolean {
  if (value === undefined) throw missingField('replay', 'true or false');
  if (typeof value !== 'boolean') throw invalidField('replay', 'true or false', value);
  return value;
}

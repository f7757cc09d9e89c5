import { invalidField } from '../../errors.ts';
import { readState, updateState } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';

const KEY = 'tailers';

/** One for each of the partitions that a trigger has at most by default: more would hold nothing. */
export const MAX_TAILERS = 64;

/**
 * How many tailers are wished for at run time; undefined while nobody has said: then the environment's number holds.
 */
export async function readTailerCount(table: DynamoTable): Promise<number | undefined> {
  const count = (await readState(table, KEY))?.['count']?.N;
  return count === undefined ? undefined : Number(count);
}

/**
 * Wishes for so many tailers; those beyond end in order within seconds, those missing are started by their schedules.
 *
 * @param count 0 to 64
 * @throws SchemalessError `invalid_field`
 */
export async function writeTailerCount(table: DynamoTable, count: number): Promise<void> {
  if (!Number.isInteger(count) || count < 0 || count > MAX_TAILERS)
    throw invalidField('tailers', `an integer from 0 to ${MAX_TAILERS}`, count);
  await updateState(table, { key: KEY, update: 'SET #count = :count', values: { ':count': { N: String(count) } } });
}

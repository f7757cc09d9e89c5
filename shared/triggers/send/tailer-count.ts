import { invalidField } from '../../errors.ts';
import { readState, setState } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';

const KEY = 'tailers';

/** As many as a trigger has partitions by default: more would hold nothing. */
export const MAX_TAILERS = 64;

/** Returns the number of tailers set at run time; undefined means that of the environment. */
export async function readTailerCount(table: DynamoTable): Promise<number | undefined> {
  const count = (await readState(table, KEY))?.['count']?.N;
  return count === undefined ? undefined : Number(count);
}

/**
 * Sets the number of tailers, 0 to 64: surplus ones end within seconds, missing ones start with their schedules. Throws
 * SchemalessError `invalid_field`.
 */
export async function writeTailerCount(table: DynamoTable, count: number): Promise<void> {
  if (!Number.isInteger(count) || count < 0 || count > MAX_TAILERS)
    throw invalidField('tailers', `an integer from 0 to ${MAX_TAILERS}`, count);
  await setState(table, KEY, { count: { N: String(count) } });
}

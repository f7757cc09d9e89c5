import { readState, updateState } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';

/** `retention#trips`: a datastore has rules, or had them and is not done. Without it retention costs one read. */
const keyOf = (datastore: string): string => `retention#${datastore}`;

export async function isRetained(table: DynamoTable, datastore: string): Promise<boolean> {
  return (await readState(table, keyOf(datastore)))?.['is']?.BOOL === true;
}

export async function setRetained(table: DynamoTable, datastore: string, is: boolean): Promise<void> {
  await updateState(table, { key: keyOf(datastore), update: 'SET #is = :is', values: { ':is': { BOOL: is } } });
}

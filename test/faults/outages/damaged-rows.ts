import { rowKeyBytes } from '../../../shared/address.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import { CONTROL } from '../../../shared/sql/names.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { comes } from '../../support/until.ts';
import { baseCell } from '../row-keys.ts';
import { countRows, type BufferTables } from './buffer-tables.ts';

/** How each is damaged: bytes that cannot be decoded, and those of another value. */
const DAMAGES = [
  { sql: `UPDATE ${CONTROL}.buffer SET body = LEFT(body, LENGTH(body) - 3) WHERE row_key = ?`, parameters: [] },
  { sql: `UPDATE ${CONTROL}.buffer SET body = ? WHERE row_key = ?`, parameters: [encodeBody({ fare: 99 })] },
];
export const DAMAGED = DAMAGES.length;

type DamagedRows = Awaited<ReturnType<typeof damageRows>>;

/** Writes cells whose primary is down, damages their rows in one buffer table and deletes the other copies. */
export async function damageRows(
  datastore: Pick<Datastore, 'put'>,
  tables: BufferTables,
  holders: readonly string[],
  rowKey: () => string,
) {
  const [holder = '', ...others] = holders;
  const rowKeys: Uint8Array[] = [];
  for (const { sql, parameters } of DAMAGES) {
    const row_key = rowKey();
    const { outcome } = await datastore.put(baseCell(row_key, { fare: 12.5, note: 'as it was written' }));
    if (outcome !== 'buffered') throw new Error(`a write to a group that is down: wanted buffered, got ${outcome}`);
    const bytes = rowKeyBytes(row_key);
    for (const other of others) await deleteRows(tables, other, [bytes]);
    const { affectedRows } = await tables.client(holder).change({ sql, parameters: [...parameters, bytes] });
    if (affectedRows !== 1) throw new Error(`rows damaged: wanted 1, got ${affectedRows}`);
    rowKeys.push(bytes);
  }
  return { holder, rowKeys };
}

/** A row is parked after five passes of the drain, a second or so each. */
const PATIENCE_MS = 15_000;
const POLL_MS = 250;

export type DamagedFate = Awaited<ReturnType<typeof fateOf>>;

export async function fateOf({ holder, rowKeys }: DamagedRows, tables: BufferTables, signal: AbortSignal) {
  const sql = `SELECT state FROM ${CONTROL}.buffer WHERE row_key IN (${rowKeys.map(() => '?').join(', ')})`;
  let states: readonly string[] = [];
  const count = (wanted: string): number => states.filter((state) => state === wanted).length;
  const isDecided = async (): Promise<boolean> => {
    states = (await tables.rows(sql, rowKeys, [holder])).map(([state]) => String(state));
    return count('waiting') === 0;
  };
  await comes(isDecided, { pollMs: POLL_MS, patienceMs: PATIENCE_MS, signal });
  const parked = count('parked');
  return {
    parked,
    waiting: count('waiting'),
    gone: rowKeys.length - states.length,
    othersParked: (await countRows(tables, tables.groups, 'parked')) - parked,
  };
}

export async function removeDamaged({ holder, rowKeys }: DamagedRows, tables: BufferTables): Promise<void> {
  await deleteRows(tables, holder, rowKeys);
}

async function deleteRows(tables: BufferTables, group: string, rowKeys: readonly Uint8Array[]): Promise<void> {
  const sql = `DELETE FROM ${CONTROL}.buffer WHERE row_key IN (${rowKeys.map(() => '?').join(', ')})`;
  await tables.client(group).change({ sql, parameters: rowKeys });
}

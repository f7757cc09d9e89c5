import { toNumber } from '../../../shared/sql/cell-rows.ts';
import type { SqlClient, Statement } from '../../../shared/sql/client.ts';
import { CONTROL } from '../../../shared/sql/names.ts';
import { sumOf } from '../checks.ts';
import { groupClient, PATIENT, type GroupAccess } from '../../support/store-access.ts';

/** Every group's buffer table by plain SQL, past the store. */
export interface BufferTables extends AsyncDisposable {
  readonly groups: readonly string[];
  client(group: string): SqlClient;
}

export function openBufferTables(access: readonly GroupAccess[]): BufferTables {
  const clients = new Map(access.map(({ name }) => [name, groupClient(access, name, { ...PATIENT, connections: 2 })]));
  return {
    groups: [...clients.keys()],
    client(group) {
      const client = clients.get(group);
      if (!client) throw new Error(`no group ${group}`);
      return client;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}

/** Rows of these groups that wait to be drained. */
export async function countWaiting(tables: BufferTables, groups: readonly string[]): Promise<number> {
  return countRows(tables, groups, 'waiting');
}

/** Rows of these groups in a state. */
export async function countRows(
  tables: BufferTables,
  groups: readonly string[],
  state: 'waiting' | 'parked',
): Promise<number> {
  const statement: Statement = { sql: `SELECT COUNT(*) FROM ${CONTROL}.buffer WHERE state = ?`, parameters: [state] };
  return sumOf(
    await Promise.all(
      groups.map(async (group) => toNumber((await tables.client(group).select(statement, 'writer'))[0]?.[0])),
    ),
  );
}

/**
 * Whether a row waits that was buffered before this moment. Looks at the oldest alone, so that asking often costs
 * nothing.
 *
 * @param beforeMs since 1970
 * @param except row keys that are not meant
 */
export async function someWaitSince(
  tables: BufferTables,
  beforeMs: number,
  except: readonly Uint8Array[],
): Promise<boolean> {
  const other = except.length > 0 ? `AND row_key NOT IN (${except.map(() => '?').join(', ')}) ` : '';
  const sql = `SELECT created_at < FROM_UNIXTIME(?) FROM ${CONTROL}.buffer WHERE state = 'waiting' ${other}ORDER BY id LIMIT 1`;
  // The time stands first in the text.
  const statement: Statement = { sql, parameters: [beforeMs / 1000, ...except] };
  const oldest = await Promise.all(tables.groups.map((group) => tables.client(group).select(statement, 'writer')));
  return oldest.some(([row]) => row !== undefined && toNumber(row[0]) === 1);
}

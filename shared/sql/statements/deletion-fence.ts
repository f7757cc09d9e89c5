import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

/**
 * The fence of a deletion, in the control database of every group: whoever is about to answer `buffered` for a copy
 * there asks for it in the same statement that says so. It stays when the datastore is gone, until one of its name is
 * made.
 */

/** True of a datastore, given as a parameter, that nobody deletes. */
export const IS_NOT_FENCED = `NOT EXISTS (SELECT 1 FROM ${CONTROL}.deletion WHERE deletion.datastore = ?)`;

/** True while the deletion that began at a time holds: datastore and time are its parameters. */
export const IS_FENCED_SINCE = `EXISTS (SELECT 1 FROM ${CONTROL}.deletion WHERE deletion.datastore = ? AND deletion.since = ?)`;

/** True where no other deletion than the one that began at a time has raised it: datastore and time are its parameters. */
export const IS_NO_OTHERS = `NOT EXISTS (SELECT 1 FROM ${CONTROL}.deletion WHERE deletion.datastore = ? AND deletion.since <> ?)`;

/** @param since RFC 3339: tells this deletion of a datastore of the name from others */
export function raiseFence(datastore: string, since: string): Statement {
  return {
    sql: `INSERT INTO ${CONTROL}.deletion (datastore, since) VALUES (?, ?) ON DUPLICATE KEY UPDATE since = VALUES(since)`,
    parameters: [datastore, since],
  };
}

/** @param since of the deletion that is taken back, or came late */
export function dropFence(datastore: string, since: string): Statement {
  return { sql: `DELETE FROM ${CONTROL}.deletion WHERE datastore = ? AND since = ?`, parameters: [datastore, since] };
}

/** Of datastores that nobody deletes: whichever deletion it was, it was taken back, or is over. */
export function dropFences(datastores: readonly string[]): Statement {
  return {
    sql: `DELETE FROM ${CONTROL}.deletion WHERE datastore IN (${datastores.map(() => '?').join(', ')})`,
    parameters: datastores,
  };
}

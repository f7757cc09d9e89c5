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

/** @param since RFC 3339: tells this deletion of a datastore of the name from others */
export function raiseFence(datastore: string, since: string): Statement {
  return {
    sql: `INSERT INTO ${CONTROL}.deletion (datastore, since) VALUES (?, ?) ON DUPLICATE KEY UPDATE since = VALUES(since)`,
    parameters: [datastore, since],
  };
}

/** @param since of the deletion that is taken back @default whichever it was: a datastore of the name is being made */
export function dropFence(datastore: string, since?: string): Statement {
  return since === undefined
    ? { sql: `DELETE FROM ${CONTROL}.deletion WHERE datastore = ?`, parameters: [datastore] }
    : { sql: `DELETE FROM ${CONTROL}.deletion WHERE datastore = ? AND since = ?`, parameters: [datastore, since] };
}

/** A row where a datastore is fenced, none where it is not. */
export function selectFence(datastore: string): Statement {
  return { sql: `SELECT since FROM ${CONTROL}.deletion WHERE datastore = ?`, parameters: [datastore] };
}

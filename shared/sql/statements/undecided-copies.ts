import { rowKeyBytes } from '../../address.ts';
import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { anyOfCopies, BY_COPY, keyParameters, type CopyKey } from './copy-key.ts';

/**
 * Marks copies as waiting for an operator's word: bodies of one address, of which more than one may have been
 * acknowledged.
 */
export function markUndecided(rows: readonly CopyKey[]): Statement {
  return {
    sql: `UPDATE ${BY_COPY} SET state = 'undecided' WHERE state IN ('waiting', 'parked') AND answered < writers AND (${anyOfCopies(rows.length)})`,
    parameters: keyParameters(rows),
  };
}

/**
 * At the address of a copy that was decided for, every other one that waited for the decision counts as answered
 * `buffered`: it gives way.
 */
export function giveWay({ datastore, row_key, column_name, ref_key, body_hash }: CopyKey): Statement {
  return {
    sql:
      `UPDATE ${CONTROL}.buffer SET answered = writers, state = 'waiting' WHERE state = 'undecided' AND answered < writers ` +
      `AND datastore = ? AND row_key = ? AND column_name = ? AND ref_key = ? AND body_hash <> ?`,
    parameters: [datastore, rowKeyBytes(row_key), Buffer.from(column_name), ref_key, body_hash],
  };
}

/** Copies of shards that take appends again wait like any other. */
export function releaseUndecided(datastore: string, shards: readonly number[]): Statement {
  return {
    sql: `UPDATE ${CONTROL}.buffer FORCE INDEX (place) SET state = 'waiting' WHERE state = 'undecided' AND datastore = ? AND shard IN (${shards.map(() => '?').join(', ')})`,
    parameters: [datastore, ...shards],
  };
}

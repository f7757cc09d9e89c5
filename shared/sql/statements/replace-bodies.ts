import type { Statement } from '../client.ts';
import { quoteName } from '../names.ts';
import type { ErasureTarget } from '../../address.ts';
import { rangeOf } from './erasure-range.ts';

export interface ErasedBody {
  readonly added_id: number;
  readonly left: Uint8Array;
}

/**
 * Replaces erased bodies, of a shard or its copy: the one statement that changes a cell. Checks the target, since a
 * server promoted without the last cells may have given their added ids to other rows.
 */
export function replaceBodies(database: string, target: ErasureTarget, bodies: readonly ErasedBody[]): Statement {
  const entity = `${quoteName(database)}.\`entity\``;
  const range = rangeOf(target);
  return {
    table: entity,
    sql:
      `UPDATE ${entity} SET body = CASE added_id ${bodies.map(() => 'WHEN ? THEN ?').join(' ')} ELSE body END ` +
      `WHERE added_id IN (${bodies.map(() => '?').join(', ')}) AND ${range.sql}`,
    parameters: [
      ...bodies.flatMap(({ added_id, left }) => [added_id, left]),
      ...bodies.map(({ added_id }) => added_id),
      ...range.parameters,
    ],
  };
}

import { shardDatabase } from '../address.ts';
import type { SqlParameter } from './client.ts';

/**
 * The one place where names become SQL text. Everything else of a statement is written by hand or bound.
 *
 * Only names of our own making pass: lower-case letters, digits and underscores, so that no name can leave its quotes.
 */
export function quoteName(name: string): string {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(name))
    throw new Error(`name in SQL: wanted a-z, 0-9 and _, at most 64, got ${JSON.stringify(name)}`);
  return `\`${name}\``;
}

/** The control database, on every group. */
export const CONTROL = '`schemaless`';

/** Made once: every statement names such a table, some a hundred of them. */
const entityTables = new Map<string, string[]>();

/** The cells of a shard: `` `trips_0233`.`entity` ``. */
export function entityTable(datastore: string, shard: number): string {
  let tables = entityTables.get(datastore);
  if (!tables) entityTables.set(datastore, (tables = []));
  return (tables[shard] ??= `${quoteName(shardDatabase(datastore, shard))}.\`entity\``);
}

/**
 * Refuses every bound value that is not one of the types of `SqlParameter`. A driver that interpolates an array or an
 * object writes text of its own making into the statement, so none may get that far.
 */
export function checkParameters(parameters: readonly SqlParameter[]): void {
  for (let position = 0; position < parameters.length; position += 1) {
    const value = parameters[position];
    if (value === null || typeof value === 'string' || typeof value === 'bigint' || value instanceof Uint8Array)
      continue;
    if (typeof value === 'number' && Number.isFinite(value)) continue;
    throw new TypeError(
      `bound value ${position}: wanted a string, finite number, bigint, bytes or null, got ${Array.isArray(value) ? 'an array' : typeof value} ${typeof value === 'number' ? value : ''}`,
    );
  }
}

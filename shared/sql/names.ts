import { shardDatabase } from '../address.ts';
import type { SqlParameter } from './client.ts';

/** Quotes a name of a-z, 0-9 and _, which cannot leave its quotes: the only way names become SQL text. */
export function quoteName(name: string): string {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(name))
    throw new Error(`name in SQL: wanted a-z, 0-9 and _, at most 64, got ${JSON.stringify(name)}`);
  return `\`${name}\``;
}

export const CONTROL = '`schemaless`';

const entityTables = new Map<string, string[]>();

/** Returns `` `trips_0233`.`entity` ``. */
export function entityTable(datastore: string, shard: number): string {
  let tables = entityTables.get(datastore);
  if (!tables) entityTables.set(datastore, (tables = []));
  return (tables[shard] ??= `${quoteName(shardDatabase(datastore, shard))}.\`entity\``);
}

/** Refuses values that are no `SqlParameter`: a driver would write text of its own making for an array or an object. */
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

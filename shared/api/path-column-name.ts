import { LIMITS } from '../cell.ts';

/** What the paths of routes take as a column name; the batch routes take any. */
export const PATH_COLUMN_NAME = `^(?!\\.{1,2}$)[A-Za-z0-9_. -]{1,${LIMITS.columnNameBytes}}$`;

const PATTERN = new RegExp(PATH_COLUMN_NAME);

/**
 * Whether a column name can stand in a path. Gateways, proxies and URL parsers decode paths in their own ways, and
 * drop `.` and `..`; these characters come through all of them.
 */
export function isPathColumnName(name: string): boolean {
  return PATTERN.test(name);
}

import { LIMITS } from '../cell.ts';
import { describe } from '../errors.ts';
import { isColumnName } from './index-columns.ts';
import type { Problems } from './problems.ts';
import { listOf, type YamlEntry } from './yaml-file.ts';

const EVERY_COLUMN = '*';

/** Checks `columns`: the names of those whose cells call the function, or '*'. Returns undefined for every column. */
export function parseTriggerColumns(entry: YamlEntry | undefined, problems: Problems): readonly string[] | undefined {
  if (entry?.value === EVERY_COLUMN) return undefined;
  const columns = listOf(entry);
  if (!columns || columns.length === 0) {
    problems.wrong('columns', "a list of column names, or '*' for every column", entry);
    return [];
  }
  const lines = new Map<string, number>();
  for (const [place, { value, line }] of columns.entries()) {
    const path = `columns[${place}]`;
    if (value === EVERY_COLUMN) problems.add(line, `${path}: wanted a column name; for every column say columns: '*'`);
    else if (typeof value !== 'string' || !isColumnName(value)) problems.add(line, `${path}: wanted text of 1 to ${LIMITS.columnNameBytes} bytes, got ${describe(value)}`);
    else if (lines.has(value)) problems.add(line, `${path}: wanted each column once, got ${describe(value)} again, which line ${lines.get(value)} has`);
    else lines.set(value, line);
  }
  return [...lines.keys()];
}

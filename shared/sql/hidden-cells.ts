import type { ShownRetention } from '../cell.ts';
import { EVERY_COLUMN, type RetentionRule } from '../definitions/definitions.ts';
import { FIRST_NAME } from '../address.ts';
import type { SqlParameter } from './client.ts';

/** A condition for cells that retention hides, by the reading statement's snapshot and clock; row `entity`. */
export interface HiddenCells {
  readonly sql: string;
  readonly parameters: readonly SqlParameter[];
}

export type RetentionRules = readonly RetentionRule[] | undefined;

export interface ReadableDatastore {
  readonly datastore: string;
  readonly retention?: RetentionRules;
}

/** Returns the rule of a column; undefined if its cells are kept for good. */
export function retentionOf(rules: RetentionRules, column: string): RetentionRule | undefined {
  return rules?.find((rule) => rule.column === column) ?? rules?.find((rule) => rule.column === EVERY_COLUMN);
}

export function shownRetention({ column, keepVersions, keepForMs }: RetentionRule): ShownRetention {
  return {
    column,
    ...(keepVersions !== undefined && { keep_versions: keepVersions }),
    ...(keepForMs !== undefined && { keep_for_seconds: keepForMs / 1000 }),
  };
}

interface ReadColumn {
  readonly entity: string;
  readonly rowKey: Uint8Array;
  readonly column: string;
  /** Only the latest cell is read, which no other cell hides. */
  readonly onlyLatest: boolean;
}

/** Returns the condition for one column of a row; undefined if none can be hidden. */
export function hiddenInColumn(rules: RetentionRules, read: ReadColumn): HiddenCells | undefined {
  const { entity, rowKey, column, onlyLatest } = read;
  const rule = retentionOf(rules, column);
  const address = [rowKey, Buffer.from(column)];
  return rule && boundsOf(rule, onlyLatest ? undefined : { entity, rowKey: '?', column: '?', parameters: address });
}

/** Returns a condition that leaves hidden cells out of a list, as a bound of the key; empty if none can be. */
export function keptInColumn(
  rules: RetentionRules,
  { entity, rowKey, column }: Omit<ReadColumn, 'onlyLatest'>,
): HiddenCells {
  const { keepVersions, keepForMs } = retentionOf(rules, column) ?? {};
  const least = keepVersions === undefined ? undefined : leastKept({ entity, rowKey: '?', column: '?' }, keepVersions);
  return {
    sql: [
      ...(least === undefined ? [] : [` AND ref_key >= COALESCE((${least}), 0)`]),
      ...(keepForMs === undefined ? [] : [` AND created_at >= ${keptSince(keepForMs)}`]),
    ].join(''),
    parameters: least === undefined ? [] : [rowKey, Buffer.from(column)],
  };
}

/** Returns the condition for cells of any columns, each by its own rule. */
export function hiddenInAny(rules: RetentionRules, entity: string, onlyLatest: boolean): HiddenCells | undefined {
  const ofCell = { entity, rowKey: 'entity.row_key', column: 'entity.column_name', parameters: [] };
  const judged = (rules ?? []).map(({ column, ...rule }) => ({
    column,
    hidden: boundsOf(rule, onlyLatest ? undefined : ofCell),
  }));
  if (judged.every(({ hidden }) => !hidden)) return undefined;
  const own = judged.filter(({ column }) => column !== EVERY_COLUMN);
  const others = judged.find(({ column }) => column === EVERY_COLUMN)?.hidden;
  const cases = own.map(({ hidden }) => `WHEN entity.column_name = ? THEN ${hidden?.sql ?? '0'}`);
  const first = `WHEN entity.column_name < ${FIRST_NAME} THEN 0`;
  return {
    sql: `CASE ${[first, ...cases].join(' ')} ELSE ${others?.sql ?? '0'} END`,
    parameters: own.map(({ column }) => Buffer.from(column)),
  };
}

interface NewerCells {
  readonly entity: string;
  readonly rowKey: string;
  readonly column: string;
  readonly parameters: readonly SqlParameter[];
}

function boundsOf(
  { keepVersions, keepForMs }: Omit<RetentionRule, 'column'>,
  newer: NewerCells | undefined,
): HiddenCells | undefined {
  const byVersions = keepVersions !== undefined && newer !== undefined;
  const bounds = [
    ...(byVersions ? [`entity.ref_key < (${leastKept(newer, keepVersions)})`] : []),
    ...(keepForMs === undefined ? [] : [`entity.created_at < ${keptSince(keepForMs)}`]),
  ];
  if (bounds.length === 0) return undefined;
  return { sql: `COALESCE(${bounds.join(' OR ')}, 0)`, parameters: byVersions ? newer.parameters : [] };
}

/** Selects the lowest ref key that is kept; null if there are fewer cells. */
function leastKept({ entity, rowKey, column }: Omit<NewerCells, 'parameters'>, keepVersions: number): string {
  // The order names the whole key: MySQL would sort the whole column for each cell otherwise.
  return (
    `SELECT newer.ref_key FROM ${entity} AS newer FORCE INDEX (cell) WHERE newer.row_key = ${rowKey} AND newer.column_name = ${column} ` +
    `ORDER BY newer.row_key DESC, newer.column_name DESC, newer.ref_key DESC LIMIT ${keepVersions - 1}, 1`
  );
}

export function keptSince(keepForMs: number): string {
  return `NOW(6) - INTERVAL ${keepForMs * 1000} MICROSECOND`;
}

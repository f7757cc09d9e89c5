import type { ShownRetention } from '../cell.ts';
import { EVERY_COLUMN, type RetentionRule } from '../definitions/definitions.ts';
import { FIRST_NAME } from '../address.ts';
import type { SqlParameter } from './client.ts';

/**
 * Which cells are out of their retention, as a condition within the statement that reads them: it is judged by the
 * snapshot that they are read from, and by the database's clock. What it tells of a cell goes into the number of its item,
 * see `cellColumns`, so that a statement over columns without a rule stays as it is.
 *
 * Over a row of the table `entity`, which goes by that name in the statement.
 */
export interface HiddenCells {
  readonly sql: string;
  readonly parameters: readonly SqlParameter[];
}

export type RetentionRules = readonly RetentionRule[] | undefined;

/** A datastore to be read, as its topology says: its name, and the rules by which cells are hidden. */
export interface ReadableDatastore {
  readonly datastore: string;
  /** @default nothing is hidden */
  readonly retention?: RetentionRules;
}

/** The rule of a column; undefined where its cells are kept for good. */
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
  /** The latest cell alone, which no other puts out. */
  readonly onlyLatest: boolean;
}

/** Of the cells of one column of a row; undefined where none can be hidden. */
export function hiddenInColumn(rules: RetentionRules, read: ReadColumn): HiddenCells | undefined {
  const { entity, rowKey, column, onlyLatest } = read;
  const rule = retentionOf(rules, column);
  const address = [rowKey, Buffer.from(column)];
  return rule && boundsOf(rule, onlyLatest ? undefined : { entity, rowKey: '?', column: '?', parameters: address });
}

/**
 * A condition by which a list of one column leaves out what is out of its retention, whether it is erased by now or not:
 * a bound of the key, so that however much was erased costs no read. Empty where nothing can be left out.
 */
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

/** Of cells of any columns: each by the rule of its own. */
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
  // Erasures are kept.
  const first = `WHEN entity.column_name < ${FIRST_NAME} THEN 0`;
  return {
    sql: `CASE ${[first, ...cases].join(' ')} ELSE ${others?.sql ?? '0'} END`,
    parameters: own.map(({ column }) => Buffer.from(column)),
  };
}

/** Whose newer cells are counted: SQL, and what it binds. */
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

/** The lowest ref key that is kept; null where there are fewer cells. As many look-ups in the key `cell`. */
function leastKept({ entity, rowKey, column }: Omit<NewerCells, 'parameters'>, keepVersions: number): string {
  // The order names the whole key: of each cell of a log MySQL would sort all of its column otherwise.
  return (
    `SELECT newer.ref_key FROM ${entity} AS newer FORCE INDEX (cell) WHERE newer.row_key = ${rowKey} AND newer.column_name = ${column} ` +
    `ORDER BY newer.row_key DESC, newer.column_name DESC, newer.ref_key DESC LIMIT ${keepVersions - 1}, 1`
  );
}

/** The time from which on cells are kept, by the database's clock. */
export function keptSince(keepForMs: number): string {
  return `NOW(6) - INTERVAL ${keepForMs * 1000} MICROSECOND`;
}

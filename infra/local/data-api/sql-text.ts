import { escape } from 'mysql2';
import { DataApiException } from './exceptions.ts';
import type { Value } from './request.ts';

interface SqlText {
  /** The text before, between and after the parameters: one more than there are names. */
  readonly pieces: readonly string[];
  readonly names: readonly string[];
  /** The text with a blank for each string, quoted name and comment. */
  readonly bare: string;
}

/** The parts that matter for parameters: quoted text, comments, `::name`, and a parameter `:name`. */
const PARTS = new RegExp(
  [
    // A doubled quote begins the next string at once, which comes to the same.
    String.raw`'(?:\\.|[^'\\])*\\?(?:'|$)`,
    String.raw`"(?:\\.|[^"\\])*\\?(?:"|$)`,
    '`[^`]*(?:`|$)',
    String.raw`(?:#|--(?=\s|$))[^\n]*`,
    String.raw`/\*.*?(?:\*/|$)`,
    String.raw`::[\p{L}\p{N}_]*`,
    String.raw`:(?<name>[\p{L}\p{N}_]+)`,
  ].join('|'),
  'gsu',
);

/** Finds parameters `:name` outside strings, comments and quoted names; `::name` and `:=` are none. */
export function readSqlText(sql: string): SqlText {
  const pieces: string[] = [];
  const names: string[] = [];
  let pieceStart = 0;
  for (const { 0: part, index, groups } of sql.matchAll(PARTS)) {
    const name = groups?.['name'];
    if (name === undefined) continue;
    pieces.push(sql.slice(pieceStart, index));
    names.push(name);
    pieceStart = index + part.length;
  }
  const bare = sql.replaceAll(PARTS, (part) => (part.startsWith('::') ? part : ' '));
  return { pieces: [...pieces, sql.slice(pieceStart)], names, bare };
}

export function isSingleStatement({ bare }: SqlText): boolean {
  const end = bare.indexOf(';');
  return end < 0 || /^[;\s]*$/u.test(bare.slice(end));
}

/** Statements that leave something behind in their session, which no other call may see. */
const SESSION_STATE =
  /^\s*(?:SET|USE|LOCK|UNLOCK|PREPARE|EXECUTE|DEALLOCATE|HANDLER|BEGIN|START|SAVEPOINT|XA|FLUSH|CALL)\b|\bTEMPORARY\b|:=|\bINTO\s+@|\bGET_LOCK\b/iu;

export function leavesSessionState({ bare }: SqlText): boolean {
  return SESSION_STATE.test(bare);
}

/** Writes the values into the statement as literals. Throws a `DataApiException` for a name without a value. */
export function bind({ pieces, names }: SqlText, values: ReadonlyMap<string, Value>): string {
  return names.reduce((text, name, index) => {
    const value = values.get(name);
    if (value === undefined) throw new DataApiException('ValidationException', `Cannot find parameter: ${name}`);
    return `${text}${literal(value)}${pieces[index + 1] ?? ''}`;
  }, pieces[0] ?? '');
}

function literal(value: Value): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return escape(value);
  return Buffer.isBuffer(value) ? `X'${value.toString('hex')}'` : String(value);
}

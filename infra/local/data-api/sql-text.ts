import { escape } from 'mysql2';
import { DataApiException } from './exceptions.ts';
import type { Value } from './request.ts';

interface SqlText {
  /** The text before, between and after the parameters: one more than there are names. */
  readonly pieces: readonly string[];
  readonly names: readonly string[];
  /** What is left without strings, quoted names and comments, each of them a blank. */
  readonly bare: string;
}

const NAME = /[\p{L}\p{N}_]+/uy;

/** Finds parameters `:name` outside strings, comments and quoted names; `::name` and `:=` are none. */
export function readSqlText(sql: string): SqlText {
  const pieces: string[] = [];
  const names: string[] = [];
  let bare = '';
  let pieceStart = 0;
  let bareStart = 0;
  let at = 0;
  const skipTo = (end: number): void => {
    bare += `${sql.slice(bareStart, at)} `;
    bareStart = end;
    at = end;
  };
  while (at < sql.length) {
    const end = endOfQuoted(sql, at);
    if (end > at) {
      skipTo(end);
    } else if (sql[at] !== ':') {
      at += 1;
    } else if (sql[at + 1] === ':') {
      at += 2;
      at += nameAt(sql, at).length;
    } else {
      const name = nameAt(sql, at + 1);
      if (name === '') {
        at += 1;
        continue;
      }
      pieces.push(sql.slice(pieceStart, at));
      names.push(name);
      pieceStart = at + 1 + name.length;
      skipTo(pieceStart);
    }
  }
  pieces.push(sql.slice(pieceStart));
  return { pieces, names, bare: bare + sql.slice(bareStart) };
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

function nameAt(sql: string, at: number): string {
  NAME.lastIndex = at;
  return NAME.exec(sql)?.[0] ?? '';
}

/** Where the string, quoted name or comment that begins at this place ends; the place itself when none begins. */
function endOfQuoted(sql: string, at: number): number {
  const first = sql[at];
  if (first === "'" || first === '"' || first === '`') return endOfString(sql, at, first);
  if (first === '#') return endOfLine(sql, at);
  if (first === '-' && /^--(?:\s|$)/u.test(sql.slice(at, at + 3))) return endOfLine(sql, at);
  if (first !== '/' || sql[at + 1] !== '*') return at;
  const end = sql.indexOf('*/', at + 2);
  return end < 0 ? sql.length : end + 2;
}

function endOfString(sql: string, at: number, quote: string): number {
  for (let next = at + 1; next < sql.length; next += 1) {
    const character = sql[next];
    if (character === '\\' && quote !== '`') next += 1;
    // A doubled quote begins the next string at once, which comes to the same.
    else if (character === quote) return next + 1;
  }
  return sql.length;
}

function endOfLine(sql: string, at: number): number {
  const end = sql.indexOf('\n', at);
  return end < 0 ? sql.length : end;
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

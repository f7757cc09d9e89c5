import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Ends a heading, a table cell, a list item, a comment or a text in masked text. */
const BREAK = '\0';

const PARTS = /(?:^ *\/\/[^\n]*\n)+|\/\*\*.*?\*\/|'(?:[^'\\\n]|\\.)*'|`[^`\n]*`/gmsu;
const MARKS = /^ *\/?\*+\/?|^ *\/\/|\*\/$/gmu;
/** A text of five words or more, unless it is SQL or a condition. */
const MESSAGE =
  /^.(?!.*\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|SET|WHERE|AND|FROM|LOCK|DROP|UNION)\b)(?:\S+ ){4}\S/u;

/** Blanks all of a program but its comments and its longer texts, which are messages and test titles. */
function maskCode(text: string): string {
  let [masked, end] = ['', 0];
  for (const { 0: part, index } of text.matchAll(PARTS)) {
    masked += blank(text.slice(end, index)) + maskPart(part);
    end = index + part.length;
  }
  return masked + blank(text.slice(end));
}

function maskPart(part: string): string {
  const isComment = /^[ /]/u.test(part);
  if (!isComment && !MESSAGE.test(part)) return blank(part);
  const kept = isComment
    ? part.replaceAll(MARKS, (mark) => ' '.repeat(mark.length))
    : part.replaceAll(/^.|.$/gu, BREAK);
  return kept
    .replaceAll(/@\w+(?: \w+)?/gu, blank)
    .replaceAll(/\$\{[^}]*\}/gu, (code) => 'x'.repeat(code.length))
    .replaceAll(/^ *$/gmu, blank);
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/gu, BREAK);
}

/** Words of a page whose sentence breaks a rule for a good reason. */
interface Exception {
  readonly file: string;
  readonly words: string;
  readonly reason: string;
}

const ROOT = resolve(import.meta.dirname, '../..');
const MOST_WORDS = 30;

export const EXCEPTIONS: readonly Exception[] = [
  { file: 'README.md', words: '**AWS**, idle, a month', reason: 'a list of prices, which a test reads' },
];

/** Words with a private sense, as a pattern, each with the field's word. */
const PRIVATE_WORDS: readonly (readonly [string, string])[] = [
  ['bells?', 'notification'],
  ['heed(?:s|ed|ing)?', 'check for erasures'],
  ['(?<!hint |lease |lock |its |token )holders?', 'hint holder'],
  ['undecided', 'in doubt'],
  ['sets? back|setting back|go(?:es)? back in time', 'restore to a point in time'],
  ['holdings', 'assigned partitions'],
  ['crews?', 'worker group'],
  ['wish(?:es|ed)?', 'desired state'],
  ['joined (?:puts?|appends?|writes?|statements?|commits?)', 'batched requests or group commit'],
  ['signs? of life', 'health check'],
  ['standstills?', 'process pause'],
  ['anew|made (?:\\w+ )?again', 'rebuild or recreate'],
  ['once more|the same again', 'retry'],
  ['mend(?:s|ed|ing)?|cures?', 'fix or repair'],
  ['(?:is|are) said', 'configured, specified or set'],
  ['at fault', 'faulty or failing'],
  ['to be had', 'available'],
];

const OPENER =
  /^(?:\*\*[^*]+\*\* )?\W*\b((?:what|who|where)(?:ever)?|that(?= (?:an?|the|it|they|this|no|each|every|nothing|there)\b))\b/iu;
const NO_ACTOR = /\b(?:whoever|nobody|somebody)\b/iu;
/** Finds *who* behind a mark or a word that is no noun. */
const WHO_ALONE =
  /(?:^\W*|[:;(] ?|\b(?:and|or|but|of|by|to|for|from|with|than|as|on|is|are|those|all|any|says?|shows?|tells?|knows?|sees?|lists?) )who\b/iu;

/** Finds a noun clause in front. A question has one, and a short heading or table cell may consist of one. */
function frontedClause(text: string): string | undefined {
  const opener = /\?$|^[^,.:;]*$/u.test(text) ? undefined : OPENER.exec(text)?.[1];
  return opener && `begins with a clause of "${opener}"`;
}

function missingActor(text: string): string | undefined {
  const word = NO_ACTOR.exec(text)?.[0];
  if (word !== undefined) return `"${word}" names no actor`;
  return WHO_ALONE.test(text) && !text.endsWith('?') ? '"who" stands behind no noun' : undefined;
}

function privateWord(text: string): string | undefined {
  for (const [pattern, instead] of PRIVATE_WORDS) {
    const word = new RegExp(`(?<![-\\w])(?:${pattern})(?![-\\w])`, 'iu').exec(text)?.[0];
    if (word !== undefined) return `"${word}" has a private sense, write ${instead}`;
  }
  return undefined;
}

function tooLong(text: string): string | undefined {
  const words = text.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  return words > MOST_WORDS ? `has ${words} words instead of at most ${MOST_WORDS}` : undefined;
}

/** Replaces code, link targets and marks of Markdown, and keeps the position of every other character. */
function mask(text: string): string {
  const fill = (by: string) => (found: string) => found.replaceAll(/[^\n]/gu, by);
  return text
    .replaceAll(/^ *```.*?^ *```$|<!--.*?-->/gmsu, fill(BREAK))
    .replaceAll(/`[^`]+`/gu, (code) => `\`${fill('x')(code.slice(1, -1))}\``)
    .replaceAll(/(?<=\]\()[^)\s]*(?=\))/gu, fill('x'))
    .replaceAll(/^ *(?:[-*>]|\d+\.|#+) /gmu, fill(BREAK))
    .replaceAll(/^ *\|.*\|$/gmu, (row) => row.replaceAll(/\|[ :|-]*/gu, fill(BREAK)))
    .replaceAll(/\n(?=\s*\n)/gu, BREAK);
}

/** Returns the sentences of a page. Headings, list items and table cells count as sentences. */
function sentences(file: string, text: string) {
  const all = mask(file.endsWith('.ts') ? maskCode(text) : text);
  const parts = all.matchAll(/[^\0\s][^\0]*?(?=\s*(?:\0|$)|(?<=[.!?][)*"]*)\s+[\p{Lu}`*[("])/gu);
  return [...parts].map(({ 0: part, index }) => ({
    line: text.slice(0, index).split('\n').length,
    shown: text.slice(index, index + part.length).replaceAll(/\s+(?:\*|\/\/)?\s*/gu, ' '),
    masked: part.replaceAll(/\s+/gu, ' '),
  }));
}

/** Returns a line for each breach of a rule in a page. */
export function findings(file: string, text: string): readonly string[] {
  return sentences(file, text).flatMap(({ line, shown, masked }) => {
    if (EXCEPTIONS.some((exception) => exception.file === file && shown.includes(exception.words))) return [];
    return [frontedClause, missingActor, privateWord, tooLong]
      .flatMap((rule) => rule(masked) ?? [])
      .map((wrong) => `${file}:${line}: ${wrong}: ${shown}`);
  });
}

if (import.meta.main) {
  const patterns = ['*.{md,ts}', 'infra/**/*.md', '{infra,functions,shared,test}/**/*.ts'];
  const pages = globSync(patterns, {
    cwd: ROOT,
    exclude: ['**/node_modules/**', '**/dist/**', '**/prose*.ts'],
  }).toSorted();
  const found = pages.flatMap((page) => findings(page, readFileSync(join(ROOT, page), 'utf8')));
  for (const finding of found) process.stdout.write(`${finding}\n`);
  process.exitCode = found.length > 0 ? 1 : 0;
}

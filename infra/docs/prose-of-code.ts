/** Ends a heading, a table cell, a list item, a comment or a text in masked text. */
export const BREAK = '\0';

const PARTS = /(?:^ *\/\/[^\n]*\n)+|\/\*\*.*?\*\/|'(?:[^'\\\n]|\\.)*'|`[^`\n]*`/gmsu;
const MARKS = /^ *\/?\*+\/?|^ *\/\/|\*\/$/gmu;
/** A text of five words or more, unless it is SQL or a condition. */
const MESSAGE =
  /^.(?!.*\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|SET|WHERE|AND|FROM|LOCK|DROP|UNION)\b)(?:\S+ ){4}\S/u;

/** Blanks all of a program but its comments and its longer texts, which are messages and test titles. */
export function maskCode(text: string): string {
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

import type { Json } from '../cell.ts';

/** Digits of the longest integers that are surely below 2^53. */
const SAFE_DIGITS = 15;

/**
 * Reads JSON text that is as JavaScript itself writes it, as most is that programs send: what it reads is written
 * again, and where that gives the same text nothing of it was lost. This takes less than half of the time of reading it
 * character by character.
 *
 * @param maxDepth deepest nesting of arrays and objects
 * @returns the value; undefined for any other text, broken or not: with white space, keys twice or in another order
 *   than that of JavaScript's objects, numbers that a double does not keep or would print in another way, integers of
 *   more than 15 digits, lone surrogates, deeper nesting
 */
export function readCanonicalJson(text: string, maxDepth: number): Json | undefined {
  // Lone surrogates alone are written as escapes that begin so.
  if (!isShallow(text, maxDepth) || text.includes('\\ud')) return undefined;
  try {
    const value: Json = JSON.parse(text);
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether it can be read without harm: no nesting beyond what is allowed, no integer that would be one of a larger
 * type.
 */
function isShallow(text: string, maxDepth: number): boolean {
  let depth = 0;
  let digits = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x30 && code <= 0x39) {
      digits += 1;
      if (digits > SAFE_DIGITS) return false;
      continue;
    }
    digits = 0;
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) depth -= 1;
    if (depth > maxDepth) return false;
  }
  return true;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at;
    if (code === 0x5c) at += 1;
  }
  return text.length;
}

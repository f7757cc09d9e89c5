import type { TransactionPlace } from '../../../shared/cell.ts';

/** Returns `2026-01-31 08:00:00.123`, UTC. */
export function timeText(time: string | null | undefined): string {
  if (time === null || time === undefined) return '–';
  return time.replace('T', ' ').replace(/(?<ms>\.\d{3})?\d*(?:Z|\+00:00)$/u, '$<ms>');
}

/** Returns `3 min ago`, `now` or `in 2 days`. `now` is in milliseconds, as `Date.now()`. */
export function agoText(time: string, now: number): string {
  const seconds = Math.round((now - Date.parse(time)) / 1000);
  if (Math.abs(seconds) < 2) return 'now';
  const text = durationText(Math.abs(seconds)).replace('.0', '');
  return seconds > 0 ? `${text} ago` : `in ${text}`;
}

export function durationText(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return '–';
  if (seconds < 10) return `${seconds.toFixed(seconds < 1 ? 2 : 1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

export function countText(count: number | null | undefined): string {
  return count === null || count === undefined ? '–' : count.toLocaleString('en-US');
}

export function counted(count: number, word: string, plural = `${word}s`): string {
  return `${countText(count)} ${count === 1 ? word : plural}`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

export function bytesText(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return '–';
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power] ?? ''}`;
}

/** Quotes a text for a shell if needed. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/iu;

export function isRowKey(text: string): boolean {
  return UUID.test(text);
}

const ANY_KEY = '00000000-0000-0000-0000-000000000000';

/** Returns whether a text is a row key, or its first four digits or more. */
export function beginsRowKey(text: string): boolean {
  return text.length >= 4 && isRowKey(`${text}${ANY_KEY.slice(text.length)}`);
}

/** Returns the position of a cell, `SHARD:ADDED_ID`. */
export function positionOf({ shard, added_id }: { readonly shard: number; readonly added_id: number }): string {
  return `${shard}:${added_id}`;
}

/** Returns a cell's place in its transaction, `2 of 3`; nothing for a cell written alone. */
export function placeText(place: TransactionPlace | undefined): string {
  return place ? `${place.position + 1} of ${place.size}` : '';
}

/** Escapes invisible characters, and those that change how the rest reads: column names and errors may have any. */
export function visible(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu,
    (one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

export function countedAre(count: number, word: string): string {
  return `${counted(count, word)} ${count === 1 ? 'is' : 'are'}`;
}

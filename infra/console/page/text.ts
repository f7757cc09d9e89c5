/** `2026-01-31 08:00:00.123`, UTC; microseconds are in the title of whoever shows it. */
export function timeText(time: string | null | undefined): string {
  if (time === null || time === undefined) return '–';
  return time.replace('T', ' ').replace(/(?<ms>\.\d{3})?\d*(?:Z|\+00:00)$/u, '$<ms>');
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

/** For a shell: in quotes where it needs them. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/iu;

export function isRowKey(text: string): boolean {
  return UUID.test(text);
}

/** Names of columns, and errors, may hold anything: what would not be seen, or change how the rest is read, is. */
export function visible(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu,
    (one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

export function countedAre(count: number, word: string): string {
  return `${counted(count, word)} ${count === 1 ? 'is' : 'are'}`;
}

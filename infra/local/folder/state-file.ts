import { renameSync, writeFileSync, existsSync, readFileSync } from 'node:fs';

/** Writes a file for its owner alone; readers find the old text or the new. */
export function writeFileAtomically(path: string, text: string): void {
  const next = `${path}.next`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, path);
}

/** Returns the number of an earlier start; undefined in a new folder. */
export function readNumber(file: string): number | undefined {
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
}

export function writeNumber(file: string, number: number): void {
  writeFileAtomically(file, String(number));
}

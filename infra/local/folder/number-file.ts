import { existsSync, readFileSync } from 'node:fs';
import { writeFileAtomically } from './write-file-atomically.ts';

/** Returns the number of an earlier start; undefined in a new folder. */
export function readNumber(file: string): number | undefined {
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
}

export function writeNumber(file: string, number: number): void {
  writeFileAtomically(file, String(number));
}

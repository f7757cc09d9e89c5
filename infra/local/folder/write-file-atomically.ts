import { renameSync, writeFileSync } from 'node:fs';

/** Writes a file for its owner alone; readers find the old text or the new. */
export function writeFileAtomically(path: string, text: string): void {
  const next = `${path}.next`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, path);
}

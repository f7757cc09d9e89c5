import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { DefinitionsError, type Problem } from '../../../../shared/definitions/definitions-error.ts';
import { loadDefinitions } from '../../../../shared/definitions/load-definitions.ts';

/** Of the test that runs: a folder of definitions, which goes with it. */
export const folder = { path: '' };
beforeEach(() => {
  folder.path = mkdtempSync(join(tmpdir(), 'schemaless-definitions-'));
});
afterEach(() => rmSync(folder.path, { recursive: true }));

/** @param file within the folder: "trips/datastore.yaml" */
export function writeIn(file: string, text: string): void {
  const path = join(folder.path, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** What is wrong with the folder; fails where nothing is. */
export function problemsOf(load: () => unknown = () => loadDefinitions(folder.path)): readonly Problem[] {
  try {
    load();
  } catch (error) {
    if (error instanceof DefinitionsError) return error.problems;
    throw error;
  }
  throw new Error('wanted problems, got none');
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { DefinitionsError, type Problem } from '../../../shared/definitions/definitions-error.ts';
import type { DatastoreDefinition } from '../../../shared/definitions/definitions.ts';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';

/** A folder of definitions for each test of the file that calls this. */
export function definitionsFolder() {
  let path = '';
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'schemaless-definitions-'));
  });
  afterEach(() => rmSync(path, { recursive: true }));
  const load = (): readonly DatastoreDefinition[] => loadDefinitions(path).datastores;
  return {
    get path(): string {
      return path;
    },
    /** @param file within the folder: "trips/datastore.yaml" */
    write(file: string, text: string): void {
      mkdirSync(dirname(join(path, file)), { recursive: true });
      writeFileSync(join(path, file), text);
    },
    load,
    /** Returns the folder's problems; fails if it has none. */
    problems(loading: () => unknown = load): readonly Problem[] {
      try {
        loading();
      } catch (error) {
        if (error instanceof DefinitionsError) return error.problems;
        throw error;
      }
      throw new Error('wanted problems, got none');
    },
  };
}

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach } from 'vitest';
import { importCells, type ImportReport, type ImportOptions } from '../../../../infra/cli/files/import/import-cells.ts';

import { newJournal, readJournal } from '../../../../infra/cli/files/import/journal.ts';
import { openInput, type InputOptions } from '../../../../infra/cli/files/import/open-input.ts';
import { START, type SourceItem } from '../../../../infra/cli/files/import/source.ts';
import type { NewCell } from '../../../../shared/cell.ts';
import type { Datastore } from '../../../../shared/contract/datastore.ts';
import { referenceStore } from '../../../support/reference-store.ts';
import { readings } from '../../../support/files/readings.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';

export const SHARDS = 4;
export type Target = Pick<Datastore, 'batchPut' | 'batchRestore' | 'transact' | 'heads'>;

interface Requests extends Partial<ImportOptions>, InputOptions {
  readonly client?: Target;
}

/** The fixtures of import tests; the datastore and the file are new for each test. */
interface ImportScene {
  readonly folder: string;
  datastore: Datastore;
  file: string;
  readonly rejects: (path?: string) => string;
  readonly rejected: (path?: string) => readonly Record<string, unknown>[];
  readonly write: (lines: Iterable<object | string>) => void;
  readonly some: (cells: number, rows?: number) => readonly NewCell[];
  /** Imports as the command does. */
  readonly importFile: (path?: string, requests?: Requests) => Promise<ImportReport>;
}

export function importTests(): ImportScene {
  const { path: folder } = folderOfTests();
  let count = 0;
  const scene: ImportScene = {
    folder,
    datastore: referenceStore('readings', SHARDS),
    file: '',
    rejects: (path = scene.file) => `${path}.rejects.ndjson`,
    rejected: (path = scene.file) =>
      readFileSync(scene.rejects(path), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    write(lines) {
      const texts = [...lines].map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
      writeFileSync(scene.file, texts.map((text) => `${text}\n`).join(''));
    },
    some: (cells, rows = 40) => [...readings({ cells, rows, seed: `import ${count}` })],
    async importFile(path = scene.file, { client = scene.datastore, ...requests } = {}) {
      const { sources, fingerprints, areTimesKept, reading } = await openInput(path, requests);
      const subject = { url: 'here', datastore: 'readings', inputs: fingerprints, reading };
      const journalPath = `${path}.import-journal`;
      const journal = (await readJournal(journalPath, subject)) ?? newJournal(subject);
      const rejectsPath = scene.rejects(path);
      return importCells(client, { sources, areTimesKept, journal, journalPath, rejectsPath, ...requests });
    },
  };
  beforeEach(() => {
    count += 1;
    scene.file = join(folder, `${count}.ndjson`);
    scene.datastore = referenceStore('readings', SHARDS);
  });
  return scene;
}

/** Returns the items of a file, or of the folder of an export. */
export async function itemsIn(path: string, options: InputOptions = {}): Promise<readonly SourceItem[]> {
  const { sources } = await openInput(path, options);
  const found: SourceItem[] = [];
  for (const source of sources) for await (const items of source.read(START)) found.push(...items);
  return found;
}

/** Returns how many cells a datastore holds. */
export async function storedIn(store: Datastore): Promise<number> {
  return (await store.heads()).reduce((sum, head) => sum + (head.error === undefined ? head.head : 0), 0);
}

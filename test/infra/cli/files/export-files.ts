import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeEach } from 'vitest';
import { checkExport } from '../../../../infra/cli/files/export/check-export.ts';
import { folderTarget } from '../../../../infra/cli/files/export/folder-target.ts';
import type { Cell } from '../../../../shared/cell.ts';
import type { SchemalessClient } from '../../../../shared/client/client.ts';
import type { Datastore } from '../../../../shared/contract/datastore.ts';
import type { IndexStatus } from '../../../../shared/api/indexes.ts';
import { exportCells, type ExportOptions, type ExportReport } from '../../../../shared/files/export-cells.ts';
import type { Manifest } from '../../../../shared/files/manifest.ts';
import { referenceStore } from '../../../support/reference-store.ts';
import { readings } from '../../../support/files/readings.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';

export const SHARDS = 4;
export const CELLS = 300;
type Source = Pick<SchemalessClient, 'name' | 'heads' | 'log' | 'listIndexes'>;

type ReadsLog = (read: Source['log'], ...asked: Parameters<Source['log']>) => ReturnType<Source['log']>;

/** The fixtures of export tests; the datastore and the folder are new for each test. */
interface ExportScene {
  readonly folder: string;
  datastore: Datastore;
  target: string;
  readonly write: (cells: number) => Promise<void>;
  /** The datastore as a client gives it, with an index of these fields. */
  readonly source: (fields?: readonly object[], datastore?: Datastore) => Source;
  /** The same, but that its logs are read so. */
  readonly reading: (log: ReadsLog) => Source;
  readonly exported: (requests?: Partial<ExportOptions>, from?: Source) => Promise<ExportReport>;
  readonly check: () => Promise<{ readonly faults: readonly string[]; readonly cells: number } | undefined>;
  readonly manifest: (part: string, change?: (text: string) => string) => Manifest;
  readonly lines: (part?: string) => readonly Record<string, unknown>[];
}

export function exportTests(): ExportScene {
  const { path: folder } = folderOfTests();
  let [tests, writes] = [0, 0];
  const scene: ExportScene = {
    folder,
    datastore: referenceStore('readings', SHARDS),
    target: '',
    async write(cells) {
      writes += 1;
      for (const cell of readings({ cells, rows: 20, seed: `export ${writes}` })) await scene.datastore.put(cell);
    },
    source: (fields = [], datastore = scene.datastore) => ({
      ...datastore,
      listIndexes: async () => ({ indexes: [{ fields } as unknown as IndexStatus] }),
    }),
    reading(log) {
      const from = scene.source();
      return { ...from, log: (...asked) => log(from.log, ...asked) };
    },
    exported: (requests = {}, from = scene.source()) =>
      exportCells(from, { target: folderTarget(scene.target), format: 'ndjson', ...requests }),
    check: () => checkExport(folderTarget(scene.target)),
    manifest(part, change) {
      const path = join(scene.target, part, '_manifest.json');
      if (change && existsSync(path)) writeFileSync(path, change(readFileSync(path, 'utf8')));
      return JSON.parse(readFileSync(path, 'utf8')) as Manifest;
    },
    lines: (part = 'part-0001') =>
      readdirSync(join(scene.target, part))
        .filter((name) => !name.startsWith('_'))
        .toSorted()
        .flatMap((name) =>
          String(gunzipSync(readFileSync(join(scene.target, part, name))))
            .trim()
            .split('\n'),
        )
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
  beforeEach(async () => {
    tests += 1;
    scene.target = join(folder, `export-${tests}`);
    scene.datastore = referenceStore('readings', SHARDS);
    await scene.write(CELLS);
  });
  return scene;
}

export async function logOf(datastore: Datastore, shards = SHARDS): Promise<readonly Cell[]> {
  const found: Cell[] = [];
  for (let shard = 0; shard < shards; shard += 1) {
    let after = 0;
    for (let more = true; more;) {
      const [log] = await datastore.log([{ shard, after }], { limit: 1000 });
      if (!log || log.error !== undefined) throw log?.error ?? new Error('no log');
      found.push(...log.cells);
      ({ next: after, more } = log);
    }
  }
  return found;
}

import type { NewCell } from '../../shared/cell.ts';
import { checkIndex } from './check-index.ts';
import { checkLogs } from './check-logs.ts';
import { checkVersions } from './check-versions.ts';
import type { DemoStore } from './demo-store.ts';
import { Differences } from './differences.ts';
import { showModelTrips } from './model-trips.ts';
import type { DemoOptions } from './options.ts';
import { startProgress, type Progress } from './progress.ts';
import { readBack } from './read-back.ts';
import { report } from './report.ts';
import { bodySizes } from './stored-size.ts';
import { grouped } from './text-table.ts';
import { writeCells } from './write.ts';
import { WrittenTrips } from './written-trips.ts';

export interface DemoRun {
  readonly store: DemoStore;
  readonly options: Pick<DemoOptions, 'trips' | 'seed' | 'size' | 'concurrency' | 'batch'>;
  /** Whether any group has a reader to read back from. */
  readonly readers: boolean;
  /** How long cells may take to appear on readers, and buffered ones at all. @default 30 s */
  readonly patienceMs?: number;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

/**
 * Writes two trips to look at and then many to count; reads every cell back by address, as latest, as a version, and
 * from the logs, from writers and from readers. Prints what came out. Returns how many checks failed.
 */
export async function runDemo({ store, options, readers, patienceMs = 30_000, signal, print }: DemoRun): Promise<number> {
  const { trips, concurrency, batch } = options;
  const differences = new Differences();
  const printAll = (lines: readonly string[]): void => {
    for (const line of lines) print(line === '' ? '' : `  ${line}`);
    print('');
  };
  print('Two trips, as the rows and versions they are: a row for each trip, cells that never change, a higher ref key for what is newer.\n');
  printAll(await showModelTrips(store, signal, differences));

  print(`Now ${grouped(trips)} trips: writing their cells, then reading every one back.\n`);
  const written = new WrittenTrips(options.seed, trips, options.size);
  const writing = await withProgress('writing', trips, 'trips', (progress) =>
    writeCells(store, written, { concurrency, batch, signal, progress, differences }),
  );
  const read = (role: 'writer' | 'reader'): Promise<number> =>
    withProgress(`reading, ${role}s`, writing.cells, 'cells', (progress) =>
      readBack(store, written, { read: role, concurrency, patienceMs, signal, progress, differences }),
    );
  const logs = (role: 'writer' | 'reader'): Promise<number> =>
    withProgress(`logs, ${role}s`, writing.cells, 'cells', (progress) =>
      checkLogs(store, written, writing.shards, { read: role, patienceMs, signal, progress, differences }),
    );
  const severalVersions: Iterable<readonly NewCell[]> = written.columns().filter((cells) => cells.length > 1);
  const verified = {
    writer: await read('writer'),
    readers: readers ? await read('reader') : undefined,
    latest: await withProgress('reading latest cells', writing.cells, 'cells', (progress) =>
      readBack(store, written.latest(), { latest: true, concurrency, patienceMs, signal, progress, differences }),
    ),
    versions: await checkVersions(store, severalVersions, { concurrency, signal, differences }),
    writerLogs: await logs('writer'),
    readerLogs: readers ? await logs('reader') : undefined,
  };
  const indexed = await checkIndex(store, written.latest(), { concurrency, patienceMs, signal, differences });
  printAll(indexed.example);
  printAll(report({ trips, written: writing, verified, indexed, sizes: bodySizes(written) }));
  return verdict(differences, print);
}

async function withProgress<Result>(label: string, total: number, unit: string, work: (progress: Progress) => Promise<Result>): Promise<Result> {
  const progress = startProgress(label, total, unit);
  try {
    return await work(progress);
  } finally {
    progress.stop();
  }
}

function verdict(differences: Differences, print: (line: string) => void): number {
  const checks = grouped(differences.passed + differences.failed);
  if (differences.failed === 0) {
    print(`${checks} checks passed`);
    return 0;
  }
  for (const line of differences.first) print(`  wrong: ${line}`);
  if (differences.failed > differences.first.length) print(`  … and ${grouped(differences.failed - differences.first.length)} more`);
  print(`${grouped(differences.failed)} of ${checks} checks failed`);
  return differences.failed;
}

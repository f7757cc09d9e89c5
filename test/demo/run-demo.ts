import type { Cell, NewCell, PutResult } from '../../shared/cell.ts';
import { DemoBilling, hasTrigger } from './billing/demo-billing.ts';
import { checkIndex } from './check-index.ts';
import { checkLogs } from './check-logs.ts';
import { checkVersions } from './check-versions.ts';
import type { DemoStore } from '../support/trips/demo-store.ts';
import { Differences } from './differences.ts';
import { showModelTrips } from './model-trips.ts';
import type { DemoOptions } from './options.ts';
import { startProgress, type Progress } from '../support/progress.ts';
import { readBack } from './read-back.ts';
import { report, type Verified } from './report.ts';
import { bodySizes } from './stored-size.ts';
import { grouped } from '../support/text-table.ts';
import { writeCells, type Written } from './write.ts';
import { WrittenTrips } from './written-trips.ts';

const PATIENCE_MS = 30_000;
const CONFIRMED_WITHIN_MS = 60_000;
const BILLING_PATIENCE_MS = 60_000;

export interface DemoRun {
  readonly store: DemoStore;
  readonly options: Pick<DemoOptions, 'trips' | 'seed' | 'size' | 'concurrency' | 'batch'>;
  /** Whether any group has a reader to read back from. */
  readonly readers: boolean;
  /** How long cells may take to appear on readers, and buffered ones at all. @default 30 s */
  readonly patienceMs?: number;
  /** How long a write that is answered `unavailable` is repeated. @default a minute */
  readonly confirmedWithinMs?: number;
  /** How long no trip may be billed while some wait: a cell that failed waits, too. @default 60 s */
  readonly billingPatienceMs?: number;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

/**
 * Writes two trips to look at and then many to count; waits until the trigger has billed them; reads every cell back by
 * address, as latest, as a version, and from the logs, from writers and from readers. Prints what came out. Returns how
 * many checks failed.
 */
export async function runDemo(run: DemoRun): Promise<number> {
  const {
    store,
    options,
    signal,
    print,
    patienceMs = PATIENCE_MS,
    confirmedWithinMs = CONFIRMED_WITHIN_MS,
    billingPatienceMs = BILLING_PATIENCE_MS,
  } = run;
  const { trips, concurrency } = options;
  const differences = new Differences();
  const printAll = (lines: readonly string[]): void => {
    for (const line of lines) print(line === '' ? '' : `  ${line}`);
    print('');
  };
  const billed = await hasTrigger(store, signal);
  const billing = billed
    ? new DemoBilling({
        store,
        patienceMs: billingPatienceMs,
        readableWithinMs: patienceMs,
        concurrency,
        signal,
        differences,
      })
    : undefined;
  print(
    'Two trips, as the rows and versions they are: a row for each trip, cells that never change, a higher ref key for what is newer.\n',
  );
  printAll(
    await showModelTrips(store, {
      billedWithinMs: billed ? billingPatienceMs : undefined,
      confirmedWithinMs,
      patienceMs,
      signal,
      differences,
    }),
  );

  print(
    `Now ${grouped(trips)} trips: writing their cells${billed ? ', which a trigger bills meanwhile' : ''}, then reading every one back.\n`,
  );
  const written = new WrittenTrips(options.seed, trips, options.size);
  const writing = await writeTrips(written, { ...run, confirmedWithinMs, billing, differences });
  if (billing) await withProgress('billing', trips, 'trips', (progress) => billing.finish(progress));
  const verified = await verify(written, writing, { ...run, patienceMs, differences });
  const indexed = await checkIndex(store, written.latest(), { concurrency, patienceMs, signal, differences });
  printAll(indexed.example);
  printAll(
    report({
      trips,
      written: writing,
      verified,
      indexed,
      billing: await billing?.findings(written.bases()),
      sizes: bodySizes(written.toWrite()),
    }),
  );
  return verdict(differences, print);
}

interface Part extends DemoRun {
  readonly differences: Differences;
}

function writeTrips(
  written: WrittenTrips,
  {
    store,
    options,
    confirmedWithinMs,
    signal,
    differences,
    billing,
  }: Part & { readonly confirmedWithinMs: number; readonly billing: DemoBilling | undefined },
): Promise<Written> {
  const answered = (cell: NewCell, { outcome }: PutResult): void => {
    written.note(cell, outcome);
    if (outcome !== 'unavailable' && outcome !== 'conflict') billing?.acknowledged(cell);
  };
  return withProgress('writing', options.trips, 'trips', (progress) => {
    const write = (): Promise<Written> =>
      writeCells(store, written.toWrite(), { ...options, confirmedWithinMs, signal, progress, differences, answered });
    return billing ? billing.watch.during(write, progress) : write();
  });
}

async function verify(
  written: WrittenTrips,
  { cells, shards }: Written,
  { store, options, readers, patienceMs = PATIENCE_MS, signal, differences }: Part,
): Promise<Verified> {
  const { concurrency } = options;
  // A put that was buffered does not say where its cell is: it may have been there before this run.
  const found = ({ shard, added_id }: Cell): void => {
    const part = shards.get(shard);
    if (part) part.after = Math.min(part.after, added_id - 1);
  };
  const read = (role: 'writer' | 'reader'): Promise<number> =>
    withProgress(`reading, ${role}s`, cells, 'cells', (progress) =>
      readBack(store, written, { read: role, concurrency, patienceMs, signal, progress, differences, found }),
    );
  const logs = (role: 'writer' | 'reader'): Promise<number> =>
    withProgress(`logs, ${role}s`, cells, 'cells', (progress) =>
      checkLogs(store, written, shards, { read: role, patienceMs, signal, progress, differences }),
    );
  const severalVersions: Iterable<readonly NewCell[]> = written.columns().filter((column) => column.length > 1);
  return {
    writer: await read('writer'),
    readers: readers ? await read('reader') : undefined,
    latest: await withProgress('reading latest cells', cells, 'cells', (progress) =>
      readBack(store, written, { latest: true, concurrency, patienceMs, signal, progress, differences }),
    ),
    versions: await checkVersions(store, severalVersions, { concurrency, patienceMs, signal, differences }),
    writerLogs: await logs('writer'),
    readerLogs: readers ? await logs('reader') : undefined,
  };
}

async function withProgress<Result>(
  label: string,
  total: number,
  unit: string,
  work: (progress: Progress) => Promise<Result>,
): Promise<Result> {
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
  if (differences.failed > differences.first.length)
    print(`  … and ${grouped(differences.failed - differences.first.length)} more`);
  print(`${grouped(differences.failed)} of ${checks} checks failed`);
  return differences.failed;
}

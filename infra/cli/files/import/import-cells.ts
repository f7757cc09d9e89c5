import { existsSync } from 'node:fs';
import type { SchemalessClient } from '../../../../shared/client/client.ts';
import { FilesError, listed } from '../../../../shared/files/files-error.ts';
import { ImportKeeper } from './import-keeper.ts';
import type { ImportOptions } from './import-options.ts';
import { NO_COUNTS, ofThisDatastore, type Counts, type Journal } from './journal.ts';
import { readWindows } from './read-windows.ts';
import { sendWindow } from './send-window.ts';
import type { CellSource } from './source.ts';

export interface ImportReport {
  /** Of the whole import, those of calls before this one included; of one that was done already, nothing. */
  readonly counts: Counts;
  /** The file of rejects, where there are some, and it is there. */
  readonly rejects?: string;
  /** False where it was ended by its signal. */
  readonly complete: boolean;
  /** What became of the cells by the journal, which says that all was imported before: nothing was done. */
  readonly already?: Counts;
  readonly seconds: number;
}

/** Cells in memory together: of 4096 shards so many that a batch of 100 touches less than half of that. */
const WINDOW = { items: 10_000, bytes: 4 * 1024 * 1024 };

/**
 * Puts all cells of some sources, a window of them at a time. Cells of a row, and of a shard, are stored in the order of
 * their source. Killed at any moment and called again with its journal it goes on, and each cell is there once, since a
 * put can be repeated.
 *
 * Cells that are refused go to the rejects file with line, code and reason, and the others go on. Those that are
 * answered `unavailable` are repeated with growing pauses; `buffered` counts as stored.
 *
 * @throws FilesError `too_many_rejects`, `no_progress`, `times_refused`; `other_import` where the datastore lacks what was stored;
 *   `bad_input` once all is stored, where files are not as their manifests say; SchemalessError where the datastore is not known, or what else
 *   no cell is at fault for. The journal says how far it came in each case.
 */
export async function importCells(
  client: Pick<SchemalessClient, 'batchPut' | 'batchRestore' | 'heads'>,
  options: ImportOptions,
): Promise<ImportReport> {
  const began = performance.now();
  const { sources, areTimesKept = false, concurrency = 8, patienceMs = 600_000, rejectsPath, signal } = options;
  const heads = await client.heads();
  const journal = ofThisDatastore(options.journal, heads);
  if (journal.complete) return alreadyDone(journal, rejectsPath);
  const keeper = await ImportKeeper.open({ ...options, journal });
  try {
    for await (const window of readWindows(keeper.open, { ...WINDOW, signal })) {
      const items = window.flatMap((piece) => piece.items);
      const { settled, failure } = await sendWindow(items, {
        client,
        heads,
        areTimesKept,
        concurrency,
        patienceMs,
        signal,
        told: (sent) => keeper.tell(sent),
      });
      await keeper.write(window, settled);
      if (failure !== undefined) throw failure;
      if (signal?.aborted) break;
    }
    if (!signal?.aborted) {
      checkSources(sources);
      await keeper.complete();
    }
  } finally {
    await keeper.close();
  }
  const { counts, isComplete: complete } = keeper;
  return { counts, ...rejectsIn(rejectsPath, counts), complete, seconds: (performance.now() - began) / 1000 };
}

/** The rejects are where they were written then, whatever is asked for now. */
function alreadyDone({ counts: already, rejects, complete }: Journal, rejectsPath: string): ImportReport {
  return { counts: NO_COUNTS, ...rejectsIn(rejects ?? rejectsPath, already), complete, already, seconds: 0 };
}

function rejectsIn(path: string, { rejected }: Counts): Pick<ImportReport, 'rejects'> {
  return rejected > 0 && existsSync(path) ? { rejects: path } : {};
}

function checkSources(sources: readonly CellSource[]): void {
  const faults = sources.flatMap((source) => source.faults?.() ?? []);
  if (faults.length === 0) return;
  throw new FilesError(
    'bad_input',
    `input: wanted the files that the manifests of the export say; all that could be read was imported, but ${listed(faults)}`,
  );
}

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SchemalessClient } from '../../../../shared/client/client.ts';
import type { FileProgress } from '../../../../shared/files/file-progress.ts';
import { FilesError } from '../../../../shared/files/files-error.ts';
import { knowsRejects, NO_COUNTS, ofThisDatastore, writeJournal, type Counts, type Journal } from './journal.ts';
import { readWindows, type Window } from './read-windows.ts';
import { RejectsFile } from './rejects-file.ts';
import { sendWindow, type Settled } from './send-window.ts';
import { checkSources, START, type CellSource, type Position } from './source.ts';

export interface ImportOptions {
  readonly sources: readonly CellSource[];
  readonly areTimesKept?: boolean | undefined;
  readonly journal: Journal;
  /** Where the journal is kept; left out, it is not, as for what comes from a pipe. */
  readonly journalPath?: string | undefined;
  readonly rejectsPath: string;
  readonly maxRejects?: number | undefined;
  readonly concurrency?: number | undefined;
  /** Milliseconds without a stored cell after which it is given up. @default 600,000 */
  readonly patienceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: FileProgress | undefined;
}

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
 * Puts all cells of some sources, those of a shard in the order of their source. Killed and called again with its journal
 * it goes on, and each cell is there once. Refused cells go to the rejects file; those answered `unavailable` are repeated.
 *
 * @throws FilesError `too_many_rejects`, `no_progress`, `times_refused`; `other_import` where the datastore lacks what was
 *   stored; `bad_input` once all is stored. SchemalessError for what no cell is at fault for.
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
      checkSources(sources, 'imported');
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

const MAX_REJECTS = 1000;

class ImportKeeper {
  readonly #options: ImportOptions;
  readonly #rejects: RejectsFile;
  #journal: Journal;

  private constructor(options: ImportOptions, rejects: RejectsFile) {
    this.#options = options;
    this.#rejects = rejects;
    this.#journal = { ...options.journal, rejects: resolve(options.rejectsPath) };
  }

  static async open(options: ImportOptions): Promise<ImportKeeper> {
    const { journalPath, rejectsPath, journal } = options;
    const isKnown = await knowsRejects(journalPath, rejectsPath);
    const rejects = await RejectsFile.open(rejectsPath, isKnown ? journal.rejects_bytes : undefined);
    const keeper = new ImportKeeper(options, rejects);
    // From now on what is in the file of rejects is of this import.
    await keeper.#writeJournal();
    return keeper;
  }

  get counts(): Counts {
    return this.#journal.counts;
  }

  get isComplete(): boolean {
    return this.#journal.complete;
  }

  get open(): readonly { readonly source: CellSource; readonly from: Position }[] {
    const { sources, journal } = this.#options;
    return sources.map((source) => ({ source, from: journal.positions[source.name] ?? START }));
  }

  /** Records what became of a window, up to each source's first unsettled item. Throws `too_many_rejects`. */
  async write(window: Window, settled: Settled): Promise<void> {
    const positions: Record<string, Position> = { ...this.#journal.positions };
    const counts = { ...this.#journal.counts };
    const rejected: Parameters<RejectsFile['append']>[0][number][] = [];
    for (const source of new Set(window.map((piece) => piece.source)))
      for (const item of window.flatMap((piece) => (piece.source === source ? piece.items : []))) {
        const settlement = settled.get(item);
        if (!settlement) break;
        const { end, reject } = settlement;
        counts[end] += 1;
        if (reject) rejected.push({ file: source.name, line: item.line, ...reject });
        positions[source.name] = item.end;
      }
    // What the journal says of rejects has to be on disk before it says so.
    await this.#rejects.append(rejected);
    this.#journal = { ...this.#journal, positions, counts, rejects_bytes: this.#rejects.bytes };
    await this.#writeJournal();
    this.#checkRejects();
  }

  async complete(): Promise<void> {
    this.#checkRejects();
    this.#journal = { ...this.#journal, complete: true };
    await this.#writeJournal();
    this.tell();
  }

  async close(): Promise<void> {
    await this.#rejects.close();
    this.#options.progress?.stop();
  }

  tell(settled: Settled = new Map()): void {
    const { progress, sources } = this.#options;
    if (!progress) return;
    const counts = { ...this.counts };
    let bytes = Object.values(this.#journal.positions).reduce((sum, position) => sum + position.bytes, 0);
    for (const [item, { end }] of settled) {
      counts[end] += 1;
      bytes += item.bytes + 1;
    }
    const cells = Object.values(counts).reduce((sum, count) => sum + count, 0);
    progress.tell({ cells, bytes, totalBytes: textOf(sources), counts });
  }

  #checkRejects(): void {
    const { maxRejects = MAX_REJECTS } = this.#options;
    if (this.counts.rejected <= maxRejects) return;
    throw new FilesError(
      'too_many_rejects',
      `max-rejects: wanted at most ${maxRejects} cells that cannot be stored, got ${this.counts.rejected}; they are in ${this.#rejects.path}. The same command with a higher --max-rejects goes on`,
    );
  }

  async #writeJournal(): Promise<void> {
    if (this.#options.journalPath !== undefined) await writeJournal(this.#options.journalPath, this.#journal);
  }
}

/** What all sources hold, once decompressed: of packed ones as what was read so far has it. Undefined where nobody knows. */
function textOf(sources: readonly CellSource[]): number | undefined {
  if (sources.some(({ size }) => size === undefined)) return undefined;
  let [size, read, text] = [0, 0, 0];
  for (const source of sources) {
    size += source.size ?? 0;
    read += source.bytesRead();
    text += source.textRead();
  }
  if (size === 0) return 0;
  return read === 0 ? undefined : (size * text) / read;
}

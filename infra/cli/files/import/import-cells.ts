import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SchemalessClient } from '../../../../shared/client/client.ts';
import type { FileProgress } from '../../../../shared/files/file-progress.ts';
import { FilesError } from '../../../../shared/files/files-error.ts';
import { knowsRejects, NO_COUNTS, ofThisDatastore, writeJournal, type Counts, type Journal } from './journal.ts';
import { readWindows, type Window } from './read-windows.ts';
import { RejectsFile } from './rejects-file.ts';
import { sendWindow, type Settled } from './send-window.ts';
import { checkSources, START, type CellSource, type Position, type Settlement } from './source.ts';

export interface ImportOptions {
  readonly sources: readonly CellSource[];
  readonly areTimesKept?: boolean | undefined;
  readonly journal: Journal;
  /** The journal's path. @default no journal, as for a pipe */
  readonly journalPath?: string | undefined;
  readonly rejectsPath: string;
  readonly maxRejects?: number | undefined;
  readonly concurrency?: number | undefined;
  /** Milliseconds without a stored cell after which it fails. @default 600,000 */
  readonly patienceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: FileProgress | undefined;
}

export interface ImportReport {
  /** The counts of the whole import, earlier calls included; zero if it was already complete. */
  readonly counts: Counts;
  /** The file of rejects, if it exists and has some. */
  readonly rejects?: string;
  /** False if its signal ended it. */
  readonly complete: boolean;
  /** The journal's counts, if the import was already complete: nothing was done. */
  readonly already?: Counts;
  readonly seconds: number;
}

/** The cells in memory: enough that a batch of 100 touches fewer than half as many of 4096 shards. */
const WINDOW = { items: 10_000, bytes: 4 * 1024 * 1024 };

/**
 * Puts all cells of some sources, those of a shard in the order of their source. With its journal it continues after a
 * kill, and stores each cell once. Refused cells go to the rejects file; `unavailable` ones are retried.
 *
 * @throws FilesError `too_many_rejects`, `no_progress`, `times_refused`; `other_import` if the datastore lacks stored
 *   cells; `bad_input` once all is stored. SchemalessError for failures that no cell caused.
 */
export async function importCells(
  client: Pick<SchemalessClient, 'batchPut' | 'batchRestore' | 'transact' | 'heads'>,
  options: ImportOptions,
): Promise<ImportReport> {
  const began = performance.now();
  const { sources, areTimesKept = false, concurrency = 8, patienceMs = 600_000, rejectsPath, signal } = options;
  const heads = await client.heads();
  const journal = ofThisDatastore(options.journal, heads);
  if (journal.complete) return alreadyDone(journal, rejectsPath);
  const keeper = await ImportKeeper.open({ ...options, journal });
  try {
    keeper.checkRejects();
    for await (const read of readWindows(keeper.open, { ...WINDOW, signal })) {
      const window = keeper.upToLimit(read);
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

/** Reports the rejects file of the earlier run, not the one requested now. */
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
    // From now on the rejects file belongs to this import.
    await keeper.#writeJournal();
    return keeper;
  }

  get #maxRejects(): number {
    return this.#options.maxRejects ?? MAX_REJECTS;
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

  /** Returns the part of a window that ends with the first reject over the limit, so that nothing after it is sent. */
  upToLimit(window: Window): Window {
    let left = this.#maxRejects - this.counts.rejected;
    const part: Window[number][] = [];
    for (const { source, items } of window) {
      const last = items.findIndex(({ reject }) => reject && (left -= 1) < 0);
      part.push({ source, items: last < 0 ? items : items.slice(0, last + 1) });
      if (last >= 0) break;
    }
    return part;
  }

  /** Records the results of a window, up to each source's first unsettled item. Throws `too_many_rejects`. */
  async write(window: Window, settled: Settled): Promise<void> {
    const positions: Record<string, Position> = { ...this.#journal.positions };
    const counts = { ...this.#journal.counts };
    const rejected: Parameters<RejectsFile['append']>[0][number][] = [];
    const held = new Set<CellSource>();
    let { least_stored } = this.#journal;
    let before: Settlement | undefined;
    for (const { source, items } of window)
      for (const item of items) {
        const settlement = settled.get(item);
        // Cells after the last allowed reject may be stored: the import puts them again if it continues.
        const isOfTransaction = settlement !== undefined && settlement === before;
        if (!settlement || (counts.rejected > this.#maxRejects && !isOfTransaction)) held.add(source);
        if (!settlement || held.has(source)) break;
        const { end, reject } = settlement;
        counts[end] += 1;
        if (end === 'stored' && !isOfTransaction) least_stored += 1;
        before = settlement;
        if (reject) {
          const { line, lastLine = line } = item;
          rejected.push({ file: source.name, line, last_line: lastLine, ...reject });
        }
        positions[source.name] = item.end;
      }
    // Rejects must be on disk before the journal counts them.
    await this.#rejects.append(rejected);
    this.#journal = { ...this.#journal, positions, counts, least_stored, rejects_bytes: this.#rejects.bytes };
    await this.#writeJournal();
    this.checkRejects();
  }

  async complete(): Promise<void> {
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
    const cells = Object.values(counts).reduce((sum, count) => sum + count, 0) - counts.skipped;
    progress.tell({ cells, bytes, totalBytes: textOf(sources), counts });
  }

  checkRejects(): void {
    if (this.counts.rejected <= this.#maxRejects) return;
    throw new FilesError(
      'too_many_rejects',
      `max-rejects: wanted at most ${this.#maxRejects} cells that cannot be stored, got ${this.counts.rejected}; they are in ${this.#rejects.path}. The same command with a higher --max-rejects continues`,
    );
  }

  async #writeJournal(): Promise<void> {
    if (this.#options.journalPath !== undefined) await writeJournal(this.#options.journalPath, this.#journal);
  }
}

/** Returns the decompressed size of all sources, estimated from the part read so far; undefined if unknown. */
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

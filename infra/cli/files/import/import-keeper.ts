import { resolve } from 'node:path';
import { FilesError } from '../../../../shared/files/files-error.ts';
import type { ImportOptions } from './import-options.ts';
import { knowsRejects, writeJournal, type Counts, type Journal } from './journal.ts';
import { RejectsFile } from './rejects-file.ts';
import type { Window } from './read-windows.ts';
import type { Settled } from './send-window.ts';
import { START, type CellSource, type Position } from './source.ts';

const MAX_REJECTS = 1000;

export class ImportKeeper {
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

import { resolve } from 'node:path';
import { FilesError } from '../../../../shared/files/files-error.ts';
import { DoneItems, type Counts } from './done-items.ts';
import type { ImportOptions } from './import-options.ts';
import { knowsRejects, lettersOf, writeJournal, type Ahead, type Journal } from './journal.ts';
import type { Pipeline } from './pipeline.ts';
import { RejectsFile } from './rejects-file.ts';
import { START, type CellSource, type Position, type SourceItem } from './source.ts';

const MAX_REJECTS = 1000;
/** Begun behind the oldest under way, so that a shard that does not answer takes no more memory than this. */
const MOST_BEGUN = { items: 60_000, bytes: 32 * 1024 * 1024 } as const;
/** What was done since is done again where it is killed. */
const CHECKPOINT_MS = 150;
/** A disk that is slow to flush is written to for a tenth of the time at most: between two checkpoints ten times as long. */
const REST_TIMES = 10;

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

/** Knows how far each source came, and writes it down. */
export class ImportKeeper {
  readonly #options: ImportOptions;
  readonly #rejects: RejectsFile;
  readonly #done = new Map<CellSource, DoneItems>();
  #journal: Journal;
  #counts: Record<keyof Counts, number>;
  #dueAt = performance.now() + CHECKPOINT_MS;
  #writing: Promise<void> = Promise.resolve();
  /** One that has not begun yet does for all who ask meanwhile. */
  #waiting: Promise<void> | undefined;

  private constructor(options: ImportOptions, rejects: RejectsFile) {
    this.#options = options;
    this.#rejects = rejects;
    this.#journal = { ...options.journal, rejects: resolve(options.rejectsPath) };
    this.#counts = { ...options.journal.counts };
  }

  static async open(options: ImportOptions): Promise<ImportKeeper> {
    const { journalPath, rejectsPath, journal } = options;
    const isKnown = await knowsRejects(journalPath, rejectsPath);
    const keeper = new ImportKeeper(
      options,
      await RejectsFile.open(rejectsPath, isKnown ? journal.rejects_bytes : undefined),
    );
    // From now on what is in the file of rejects is of this import.
    await keeper.#writeJournal();
    return keeper;
  }

  get counts(): Counts {
    return this.#counts;
  }

  get isComplete(): boolean {
    return this.#journal.complete;
  }

  /** The sources, each from where it came to. */
  get open(): readonly { readonly source: CellSource; readonly from: Position }[] {
    const { sources, journal } = this.#options;
    return sources.map((source) => ({ source, from: journal.positions[source.name] ?? START }));
  }

  begin(source: CellSource, item: SourceItem): ReturnType<DoneItems['begin']> {
    let done = this.#done.get(source);
    if (!done) {
      const { name } = source;
      done = new DoneItems(this.#journal.positions[name] ?? START, lettersOf(this.#journal, name));
      this.#done.set(source, done);
    }
    return done.begin(item);
  }

  async checkpointIfDue(): Promise<void> {
    if (performance.now() >= this.#dueAt) await this.checkpoint();
  }

  /** Returns once the oldest item that is under way is near enough. */
  async untilNear(pipeline: Pipeline): Promise<void> {
    while (this.#isFarAhead && !this.#options.signal?.aborted) {
      await this.checkpointIfDue();
      if (this.#isFarAhead) await pipeline.change();
    }
  }

  get #isFarAhead(): boolean {
    const most = this.#options.mostBegun ?? MOST_BEGUN;
    let [items, bytes] = [0, 0];
    for (const { begun } of this.#done.values()) {
      items += begun.items;
      bytes += begun.bytes;
    }
    return items >= most.items || bytes >= most.bytes;
  }

  /** Writes down how far it came meanwhile, too. */
  async whileDraining(pipeline: Pipeline): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    const fail = (error: unknown): void => {
      failure ??= { error };
      void pipeline.stop();
    };
    const timer = setInterval(() => void this.checkpointIfDue().catch(fail), CHECKPOINT_MS);
    try {
      await pipeline.drain();
    } finally {
      clearInterval(timer);
    }
    if (failure) throw failure.error;
  }

  /** Returns once it is on disk. Throws `too_many_rejects`. */
  checkpoint(): Promise<void> {
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#waiting ??= this.#writing = this.#writing.then(async () => {
      this.#waiting = undefined;
      const began = performance.now();
      await this.#write(false);
      const now = performance.now();
      this.#dueAt = now + Math.max(CHECKPOINT_MS, REST_TIMES * (now - began));
    });
    return this.#waiting;
  }

  /** @param isWhole nothing is left to be read, nor to be stored */
  async close(isWhole: boolean): Promise<void> {
    try {
      await this.#writing.catch(() => undefined);
      await this.#write(isWhole);
    } finally {
      await this.#rejects.close();
      this.#options.progress?.stop();
    }
  }

  async #write(mayBeComplete: boolean): Promise<void> {
    const advances = [...this.#done].map(([source, done]) => ({ source, done, advance: done.advance() }));
    const rejected = advances.flatMap(({ source, advance }) =>
      advance.rejects.map(({ line, reject }) => ({ file: source.name, line, ...reject })),
    );
    // What the journal says of rejects has to be on disk before it says so.
    await this.#rejects.append(rejected);
    const positions: Record<string, Position> = { ...this.#journal.positions };
    const ahead: Record<string, Ahead> = { ...this.#journal.ahead };
    for (const { source, done, advance } of advances) {
      done.forget(advance);
      positions[source.name] = advance.position;
      const { letters } = done;
      if (letters === '') delete ahead[source.name];
      else ahead[source.name] = { items: advance.position.items, letters };
      for (const end of Object.keys(advance.ends) as (keyof Counts)[]) this.#counts[end] += advance.ends[end];
    }
    const complete = mayBeComplete && [...this.#done.values()].every(({ isDone }) => isDone) && this.#isWithinRejects;
    this.#journal = {
      ...this.#journal,
      positions,
      ahead,
      counts: { ...this.#counts },
      rejects_bytes: this.#rejects.bytes,
      complete,
    };
    await this.#writeJournal();
    this.#tell();
    const { maxRejects = MAX_REJECTS } = this.#options;
    if (!this.#isWithinRejects)
      throw new FilesError(
        'too_many_rejects',
        `max-rejects: wanted at most ${maxRejects} cells that cannot be stored, got ${this.#counts.rejected}; they are in ${this.#rejects.path}. The same command with a higher --max-rejects goes on`,
      );
  }

  async #writeJournal(): Promise<void> {
    if (this.#options.journalPath !== undefined) await writeJournal(this.#options.journalPath, this.#journal);
  }

  get #isWithinRejects(): boolean {
    return this.#counts.rejected <= (this.#options.maxRejects ?? MAX_REJECTS);
  }

  #tell(): void {
    const { progress, sources } = this.#options;
    if (!progress) return;
    const counts = { ...this.#counts };
    let bytes = Object.values(this.#journal.positions).reduce((sum, position) => sum + position.bytes, 0);
    for (const { ahead } of this.#done.values()) {
      for (const end of Object.keys(ahead.ends) as (keyof Counts)[]) counts[end] += ahead.ends[end];
      bytes += ahead.bytes;
    }
    const cells = Object.values(counts).reduce((sum, count) => sum + count, 0);
    progress.tell({ cells, bytes, totalBytes: textOf(sources), counts });
  }
}

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ShardHead } from '../../../../shared/contract/datastore.ts';
import { shardOf } from '../../../../shared/address.ts';
import type { SchemalessClient } from '../../../../shared/client/client.ts';
import { FilesError, listed } from '../../../../shared/files/files-error.ts';
import type { FileProgress } from '../../../../shared/files/file-progress.ts';
import { DoneItems, NO_COUNTS, type Counts } from './done-items.ts';
import { knowsRejects, lettersOf, ofThisDatastore, writeJournal, type Ahead, type Journal } from './journal.ts';
import { Pipeline } from './pipeline.ts';
import { readInTurn } from './read-in-turn.ts';
import { RejectsFile } from './rejects-file.ts';
import { restoringClient } from './restoring-client.ts';
import { START, type CellSource, type Position, type SourceItem } from './source.ts';

export interface ImportOptions {
  /** Read side by side, some at a time; order is kept within each. */
  readonly sources: readonly CellSource[];
  /** The cells are stored with the times that they bring. @default with that of their storing */
  readonly areTimesKept?: boolean | undefined;
  /** How far it came before; a new one otherwise. */
  readonly journal: Journal;
  /** Where the journal is kept; left out, it is not, as for what comes from a pipe. */
  readonly journalPath?: string | undefined;
  readonly rejectsPath: string;
  /** More rejects end the import. @default 1000 */
  readonly maxRejects?: number | undefined;
  /** Batches under way at once. @default 8 */
  readonly concurrency?: number | undefined;
  /** When nothing was stored, or nothing of a shard, for so long, it is given up. @default 600,000 */
  readonly patienceMs?: number | undefined;
  /** Lines that are begun behind the oldest that is under way. @default 60,000, of 32 MiB */
  readonly mostBegun?: { readonly items: number; readonly bytes: number } | undefined;
  /** Ends the import; what is under way is waited for. */
  readonly signal?: AbortSignal | undefined;
  readonly progress?: FileProgress | undefined;
}

export interface ImportReport {
  /** Of the whole import, those of calls before this one included; of one that was done already, nothing. */
  readonly counts: Counts;
  /**
   * Where times are kept: how many cells are there with another one, those included of which the answers did not say
   * it.
   */
  readonly new_times?: number;
  /** The file of rejects, where there are some, and it is there. */
  readonly rejects?: string;
  /** False where it was ended by its signal. */
  readonly complete: boolean;
  /** What became of the cells by the journal, which says that all was imported before: nothing was done. */
  readonly already?: Counts;
  readonly seconds: number;
}

const CONCURRENCY = 8;
const MAX_REJECTS = 1000;
const PATIENCE_MS = 600_000;
const WINDOW_CELLS = 20_000;
const WINDOW_BYTES = 8 * 1024 * 1024;
/** Begun behind the oldest under way, so that a shard that does not answer takes no more memory than this. */
const MOST_BEGUN = { items: 60_000, bytes: 32 * 1024 * 1024 } as const;
/** What was done since is done again where it is killed. */
const CHECKPOINT_MS = 150;
/** A disk that is slow to flush is written to for a tenth of the time at most: between two checkpoints ten times as long. */
const REST_TIMES = 10;

/**
 * Puts all cells of some sources. Cells of a row, and of a shard, are stored in the order of their source. Killed at any
 * moment and called again with its journal it goes on, and each cell is there once, since a put can be repeated.
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
  const heads = await client.heads();
  const journal = ofThisDatastore(options.journal, heads);
  const { areTimesKept = false } = options;
  if (journal.complete) return alreadyDone(journal, options);
  return importRest(areTimesKept ? restoringClient(client) : client, { ...options, journal }, { heads, began });
}

async function importRest(
  client: Pick<SchemalessClient, 'batchPut'>,
  options: ImportOptions,
  { heads, began }: { readonly heads: readonly ShardHead[]; readonly began: number },
): Promise<ImportReport> {
  const groups = new Map(heads.map(({ shard, group }) => [shard, group]));
  const keeper = await Keeper.open(options);
  const pipeline = new Pipeline({
    client,
    shardOf: (rowKey) => shardOf(rowKey, heads.length),
    groupOf: (shard) => groups.get(shard) ?? '',
    concurrency: options.concurrency ?? CONCURRENCY,
    windowCells: WINDOW_CELLS,
    windowBytes: WINDOW_BYTES,
    patienceMs: options.patienceMs ?? PATIENCE_MS,
  });
  // Also when it waits for room, or for a group that does not answer.
  const stop = (): void => void pipeline.stop();
  options.signal?.addEventListener('abort', stop);
  try {
    const isWhole = await readAll(options, keeper, pipeline);
    if (isWhole) checkSources(options.sources);
    await keeper.close(isWhole);
  } catch (error) {
    await pipeline.stop();
    // The first error says why.
    await keeper.close(false).catch(() => undefined);
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', stop);
  }
  const { counts, newTimes } = keeper;
  return {
    counts,
    ...(options.areTimesKept && { new_times: newTimes }),
    ...rejectsIn(options.rejectsPath, counts),
    complete: keeper.isComplete,
    seconds: (performance.now() - began) / 1000,
  };
}

function alreadyDone(journal: Journal, { areTimesKept, rejectsPath }: ImportOptions): ImportReport {
  const { counts: already, new_times = 0, rejects = rejectsPath, complete } = journal;
  return {
    counts: NO_COUNTS,
    ...(areTimesKept && { new_times }),
    // Where they were written then, whatever is asked for now.
    ...rejectsIn(rejects, already),
    complete,
    already,
    seconds: 0,
  };
}

function rejectsIn(path: string, { rejected }: Counts): Pick<ImportReport, 'rejects'> {
  return rejected > 0 && existsSync(path) ? { rejects: path } : {};
}

/** A file that was cut, or changed, has given what it had by then. */
function checkSources(sources: readonly CellSource[]): void {
  const faults = sources.flatMap((source) => source.faults?.() ?? []);
  if (faults.length === 0) return;
  throw new FilesError(
    'bad_input',
    `input: wanted the files that the manifests of the export say; all that could be read was imported, but ${listed(faults)}`,
  );
}

/** Returns whether it came to the end of all sources. */
async function readAll({ signal }: ImportOptions, keeper: Keeper, pipeline: Pipeline): Promise<boolean> {
  for await (const { source, items } of readInTurn(keeper.open, { signal, idle: () => pipeline.flush() })) {
    await keeper.untilNear(pipeline);
    for (const item of items) {
      const entry = keeper.begin(source, item);
      if (item.cell && !entry.end) await pipeline.add({ cell: item.cell, bytes: item.bytes, entry });
      if (signal?.aborted) break;
    }
    await keeper.checkpointIfDue();
  }
  if (signal?.aborted) await pipeline.stop();
  else await keeper.whileDraining(pipeline);
  return signal?.aborted !== true;
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

/** Knows how far each source came, and writes it down. */
class Keeper {
  readonly #options: ImportOptions;
  readonly #rejects: RejectsFile;
  readonly #done = new Map<CellSource, DoneItems>();
  #journal: Journal;
  #counts: Record<keyof Counts, number>;
  #newTimes: number;
  #dueAt = performance.now() + CHECKPOINT_MS;
  #writing: Promise<void> = Promise.resolve();
  /** One that has not begun yet does for all who ask meanwhile. */
  #waiting: Promise<void> | undefined;

  private constructor(options: ImportOptions, rejects: RejectsFile) {
    this.#options = options;
    this.#rejects = rejects;
    this.#journal = { ...options.journal, rejects: resolve(options.rejectsPath) };
    this.#counts = { ...options.journal.counts };
    this.#newTimes = options.journal.new_times ?? 0;
  }

  static async open(options: ImportOptions): Promise<Keeper> {
    const { journalPath, rejectsPath, journal } = options;
    const isKnown = await knowsRejects(journalPath, rejectsPath);
    const keeper = new Keeper(
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

  get newTimes(): number {
    return this.#newTimes;
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
      this.#newTimes += advance.newTimes;
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
      ...(this.#options.areTimesKept && { new_times: this.#newTimes }),
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

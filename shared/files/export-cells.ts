import { nextDigest } from '../body/log-digest.ts';
import type { Cell, Role } from '../cell.ts';
import type { SchemalessClient } from '../client/client.ts';
import { ENDING, type Compression } from './compression.ts';
import { FilesError } from './files-error.ts';
import type { FileProgress } from './file-progress.ts';
import type { CellFile } from './cell-file.ts';
import {
  DONE,
  MANIFEST,
  PLAN,
  readDone,
  type ExportedShard,
  type Manifest,
  type Plan,
  type Range,
} from './manifest.ts';
import { ndjsonFile } from './ndjson-file.ts';
import { parquetFile } from './parquet-file.ts';
import { planPart, type PartRequest } from './plan-part.ts';
import { readShards } from './read-shards.ts';
import type { ExportTarget } from './target.ts';

export interface ExportOptions extends Omit<PartRequest, 'leavesUnknown'> {
  readonly target: ExportTarget;
  /** The role that the logs are read from. @default writer */
  readonly read?: Role | undefined;
  /** The export gives up once unfinished logs returned nothing for so long. @default 120,000 */
  readonly patienceMs?: number | undefined;
  /**
   * Writes part of a shard. A file ends at so many bytes as JSON (plus at most one answer of 4 MiB), at the signal, or
   * when the shard returns no more. The next part continues there. @default each file holds its whole shard
   */
  readonly slice?: { readonly fileBytes: number } | undefined;
  /** Ends the export, which a later one may continue. */
  readonly signal?: AbortSignal | undefined;
  readonly progress?: FileProgress | undefined;
}

export interface ExportReport {
  /** Undefined where there was nothing new. */
  readonly part: string | undefined;
  readonly cells: number;
  readonly bytes: number;
  /** False where it was ended by its signal, or where nothing at all came of what is left to a slice. */
  readonly complete: boolean;
  /** Cells of the plan that are left for the next part. */
  readonly left: number;
  /** Shards that gave nothing, of which something was to be exported. */
  readonly silent: number;
  /** RFC 3339: whatever was stored before is in parts that are complete. */
  readonly exported_until: string;
  readonly seconds: number;
}

const PATIENCE_MS = 120_000;
const DONE_EVERY_MS = 1000;
/** Files that are open at once for each request: those of Parquet hold rows back. */
const FILES_AT_ONCE = { ndjson: 24, parquet: 6 } as const;

type Client = Pick<SchemalessClient, 'name' | 'heads' | 'log' | 'listIndexes'>;

/** Exports all shards as of the start, resumable. Throws `other_export`, `busy_export`, `cut_log`, `log_too_short`. */
export async function exportCells(client: Client, options: ExportOptions): Promise<ExportReport> {
  const release = await options.target.lock?.(options.signal);
  try {
    return await exportAlone(client, options);
  } finally {
    await release?.();
  }
}

async function exportAlone(client: Client, options: ExportOptions): Promise<ExportReport> {
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  const beganAt = new Date().toISOString();
  const planned = await planPart(client, { ...options, leavesUnknown: options.slice !== undefined });
  if (!planned) return { ...NOTHING_NEW, exported_until: beganAt, seconds: seconds() };
  const { part, plan } = planned;
  const writing = new PartWriting(part, plan, options, await readDone(options.target, part));
  try {
    await readShards(writing.left, writing, {
      client,
      read: options.read ?? 'writer',
      sealed: options.opened !== true,
      atOnce: FILES_AT_ONCE[plan.format],
      patienceMs: options.patienceMs ?? PATIENCE_MS,
      mayEndEarly: options.slice !== undefined,
      signal: options.signal,
    });
  } finally {
    await writing.close();
  }
  const manifest = writing.isComplete ? await writing.complete() : undefined;
  return {
    part,
    ...writing.sums,
    complete: manifest !== undefined,
    exported_until: manifest?.exported_until ?? plan.exported_until ?? plan.began_at,
    seconds: seconds(),
  };
}

const NOTHING_NEW = { part: undefined, cells: 0, bytes: 0, complete: true, left: 0, silent: 0 } as const;

interface OpenFile {
  readonly file: CellFile;
  readonly scratch: string;
  last: Cell;
  /** Of the log up to there, where that of its beginning is known. */
  digest: string | undefined;
}

class PartWriting {
  readonly #part: string;
  readonly #plan: Plan;
  readonly #options: ExportOptions;
  readonly #done: Map<number, ExportedShard>;
  readonly #silent = new Set<number>();
  readonly #open = new Map<number, OpenFile>();
  readonly #total: number;
  #cells: number;
  #toldAt = performance.now();

  constructor(part: string, plan: Plan, options: ExportOptions, done: readonly ExportedShard[]) {
    this.#part = part;
    this.#plan = plan;
    this.#options = options;
    this.#done = new Map(done.map((shard) => [shard.shard, shard]));
    this.#total = plan.ranges.reduce((sum, { after, to }) => sum + to - after, 0);
    this.#cells = done.reduce((sum, { cells }) => sum + cells, 0);
  }

  get left(): readonly Range[] {
    return this.#plan.ranges.filter(({ shard, after, to }) => to > after && !this.#done.has(shard));
  }

  /** A part that holds nothing is of no use: there would be one with each try. */
  get isComplete(): boolean {
    const { left } = this;
    return left.length === 0 || (this.#done.size > 0 && left.every(({ shard }) => this.#silent.has(shard)));
  }

  get sums(): Pick<ExportReport, 'cells' | 'bytes' | 'left' | 'silent'> {
    const done = [...this.#done.values()];
    const cells = done.reduce((sum, one) => sum + one.cells, 0);
    const bytes = done.reduce((sum, { file }) => sum + (file?.bytes ?? 0), 0);
    return { cells, bytes, left: this.#total - cells, silent: this.#silent.size + (this.#plan.unknown?.length ?? 0) };
  }

  async cells({ shard, after_digest }: Range, cells: readonly Cell[]): Promise<boolean> {
    const last = cells.at(-1);
    if (!last) return true;
    let open = this.#open.get(shard);
    if (!open) {
      const scratch = await this.#options.target.scratch(this.#pathOf(shard));
      open = { file: await this.#newFile(scratch), scratch, last, digest: after_digest };
      this.#open.set(shard, open);
    }
    open.last = last;
    for (const cell of cells)
      // The digest of a body that cannot be decoded is unknown.
      open.digest = open.digest === undefined || cell.error ? undefined : nextDigest(open.digest, cell);
    await open.file.write(cells);
    this.#cells += cells.length;
    this.#options.progress?.tell({ cells: this.#cells, totalCells: this.#total });
    return open.file.textBytes < (this.#options.slice?.fileBytes ?? Number.POSITIVE_INFINITY);
  }

  silent({ shard }: Range): void {
    this.#silent.add(shard);
  }

  async done(range: Range): Promise<void> {
    const open = this.#open.get(range.shard);
    if (!open) throw new Error(`shard ${range.shard} is done without a cell`);
    const { file, scratch, last, digest } = open;
    const path = this.#pathOf(range.shard);
    const sum = await file.finish();
    await this.#options.target.store(scratch, path);
    this.#open.delete(range.shard);
    const name = path.slice(this.#part.length + 1);
    this.#done.set(range.shard, {
      ...range,
      to: last.added_id,
      cells: last.added_id - range.after,
      to_created_at: last.created_at,
      ...(digest !== undefined && { to_digest: digest }),
      file: { name, ...sum },
    });
    // A file that is not recorded yet would be written again, with the same content.
    if (performance.now() - this.#toldAt > DONE_EVERY_MS) await this.#writeDone();
  }

  /** Saves the progress after any end, so that the next export can continue. */
  async close(): Promise<void> {
    this.#options.progress?.stop();
    for (const { file } of this.#open.values()) await file.discard();
    await this.#writeDone();
  }

  /** The manifest comes last: what is named in it is there. */
  async complete(): Promise<Manifest> {
    const { target } = this.#options;
    const { ranges, unknown: _, ...content } = this.#plan;
    const shards = ranges.map((range): ExportedShard => {
      const { after, after_created_at, after_digest } = range;
      const digest = after_digest !== undefined && { to_digest: after_digest };
      const nothing = { ...range, to: after, cells: 0, to_created_at: after_created_at, ...digest };
      return this.#done.get(range.shard) ?? nothing;
    });
    const manifest: Manifest = {
      ...content,
      completed_at: new Date().toISOString(),
      cells: shards.reduce((sum, { cells }) => sum + cells, 0),
      exported_until: this.#exportedUntil(shards),
      shards,
    };
    await target.writeText(`${this.#part}/${MANIFEST}`, `${JSON.stringify(manifest, undefined, 1)}\n`);
    for (const name of [DONE, PLAN]) await target.remove(`${this.#part}/${name}`);
    return manifest;
  }

  /** All that was stored when the plan was made, but for what is left of a shard. */
  #exportedUntil(shards: readonly ExportedShard[]): string {
    const { ranges, unknown = [], began_at, exported_until = began_at } = this.#plan;
    const unknownShards = new Set(unknown);
    const times = ranges.map(({ to }, position) => {
      const shard = shards[position];
      if (shard && unknownShards.has(shard.shard)) return exported_until;
      return shard && shard.to < to ? (shard.to_created_at ?? exported_until) : began_at;
    });
    return times.reduce((first, time) => (Date.parse(time) < Date.parse(first) ? time : first), began_at);
  }

  async #writeDone(): Promise<void> {
    this.#toldAt = performance.now();
    await this.#options.target.writeText(`${this.#part}/${DONE}`, JSON.stringify([...this.#done.values()]));
  }

  async #newFile(scratch: string): Promise<CellFile> {
    const { format, compression, typed_columns } = this.#plan;
    if (format === 'parquet') return parquetFile(scratch, typed_columns);
    if (compression === 'snappy') throw new FilesError('bad_manifest', 'compression: wanted one of NDJSON, got snappy');
    return ndjsonFile(scratch, compression);
  }

  #pathOf(shard: number): string {
    return `${this.#part}/${fileName(shard, this.#plan)}`;
  }
}

/** `0233.ndjson.gz` */
function fileName(shard: number, { format, compression }: Pick<Plan, 'format' | 'compression'>): string {
  const ending = format === 'parquet' ? 'parquet' : `ndjson${ENDING[compression as Compression]}`;
  return `${String(shard).padStart(4, '0')}.${ending}`;
}

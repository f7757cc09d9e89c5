import { createHash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { parseJson } from '../../../../shared/body/json.ts';
import { nextDigest } from '../../../../shared/body/log-digest.ts';
import { LIMITS, type Cell } from '../../../../shared/cell.ts';
import { compressionOf, decompressor } from '../../../../shared/files/compression.ts';
import { FilesError } from '../../../../shared/files/files-error.ts';
import {
  listParts,
  readManifests,
  type ExportedShard,
  type Manifest,
  type Part,
} from '../../../../shared/files/manifest.ts';
import type { ExportTarget } from '../../../../shared/files/target.ts';
import { readLines } from '../import/read-lines.ts';

export interface CheckReport {
  readonly parts: number;
  readonly files: number;
  readonly cells: number;
  readonly faults: readonly string[];
}

/** Compares an export with its manifests; undefined if interrupted. Throws `bad_manifest`, `bad_input`. */
export async function checkExport(target: ExportTarget): Promise<CheckReport>;
export async function checkExport(target: ExportTarget, signal: AbortSignal): Promise<CheckReport | undefined>;
export async function checkExport(target: ExportTarget, signal?: AbortSignal): Promise<CheckReport | undefined> {
  const parts = await readManifests(target);
  if (parts.length === 0) throw new FilesError('bad_input', `${target.name}: wanted a complete export, got none`);
  const faults: string[] = [];
  for (const part of await listParts(target))
    if (!parts.some((one) => one.part === part)) faults.push(`${part} is not complete`);
  faults.push(...checkRanges(parts));
  let [files, cells] = [0, 0];
  for (const { part, manifest } of parts) {
    for (const shard of manifest.shards) {
      if (!shard.file) continue;
      files += 1;
      cells += shard.cells;
      const path = `${part}/${shard.file.name}`;
      const fault = await checkFile(target, path, shard, manifest, signal).catch((error: unknown) => String(error));
      if (signal?.aborted) return undefined;
      if (fault !== undefined) faults.push(`${path}: ${fault}`);
    }
  }
  return { parts: parts.length, files, cells, faults };
}

/** Checks that each part begins where the one before ended, by the manifests. Returns faults, each a sentence. */
export function checkRanges(parts: readonly Part[]): readonly string[] {
  const faults: string[] = [];
  const reached = new Map<number, number>();
  for (const { part, manifest } of parts) {
    for (const { shard, after, to, cells, file } of manifest.shards) {
      const wanted = reached.get(shard) ?? 0;
      if (after !== wanted)
        faults.push(`${part}: shard ${shard}: wanted cells after ${wanted}, got those after ${after}`);
      if (cells !== to - after) faults.push(`${part}: shard ${shard}: wanted ${to - after} cells, got ${cells}`);
      if (cells > 0 && !file) faults.push(`${part}: shard ${shard}: wanted a file of ${cells} cells, got none`);
      reached.set(shard, to);
    }
    const sum = manifest.shards.reduce((all, { cells }) => all + cells, 0);
    if (sum !== manifest.cells) faults.push(`${part}: wanted ${manifest.cells} cells in all, got ${sum}`);
  }
  return faults;
}

async function checkFile(
  target: ExportTarget,
  path: string,
  { after, to, cells, file, after_digest, to_digest }: ExportedShard,
  { format }: Manifest,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const sum = createHash('sha256');
  let bytes = 0;
  const stream = await target.open(path);
  if (signal) addAbortSignal(signal, stream);
  stream.on('data', (piece: Buffer) => {
    sum.update(piece);
    bytes += piece.length;
  });
  stream.pause();
  const ids = format === 'parquet' ? idsOfParquet(stream, target, path) : idsOfLines(stream, path, after_digest);
  const found = await ids.catch((error: unknown) => {
    // No byte was read. For damaged bytes the sums say more.
    if (bytes === 0) throw error;
    return String(error);
  });
  const hash = sum.digest('hex');
  if (bytes !== file?.bytes) return `wanted ${file?.bytes} bytes, got ${bytes}`;
  if (hash !== file.sha256) return `wanted the SHA-256 ${file.sha256}, got ${hash}`;
  if (typeof found === 'string') return found;
  if (found.cells !== cells) return `wanted ${cells} cells, got ${found.cells}`;
  if (found.first !== undefined && (found.first !== after + 1 || found.last !== to || found.hole !== undefined))
    return `wanted the added ids ${after + 1} to ${to}, got ${found.first} to ${found.last}${found.hole === undefined ? '' : `, with a hole at ${found.hole}`}`;
  if (found.digest !== undefined && to_digest !== undefined && found.digest !== to_digest)
    return `wanted the digest ${to_digest}, got ${found.digest}`;
  return undefined;
}

class Ids {
  cells = 0;
  first: number | undefined;
  last: number | undefined;
  /** The first missing added id. */
  hole: number | undefined;
  /** The log's digest up to the last; undefined if the one before the first is unknown, or cells were incomplete. */
  digest: string | undefined;

  add(id: number): void {
    if (this.last !== undefined && id !== this.last + 1) this.hole ??= this.last + 1;
    this.first ??= id;
    this.last = id;
    this.cells += 1;
  }
}

/** A line is nested one level deeper than its body. */
const LINE = { field: 'line', maxDepth: LIMITS.bodyDepth + 1 } as const;

async function idsOfLines(stream: Readable, path: string, before: string | undefined): Promise<Ids> {
  const transform = decompressor(compressionOf(path));
  stream.on('error', (error) => transform?.destroy(error));
  const ids = new Ids();
  ids.digest = before;
  for await (const lines of readLines(transform ? stream.pipe(transform) : stream, Number.MAX_SAFE_INTEGER)) {
    for (const { bytes } of lines) {
      const cell = parseJson(String(bytes), LINE) as unknown as Cell;
      ids.add(cell.added_id);
      if (ids.digest !== undefined) ids.digest = nextDigest(ids.digest, cell);
    }
  }
  return ids;
}

/** Reads only the column of added ids, a group of rows at a time. */
async function idsOfParquet(stream: Readable, target: ExportTarget, path: string): Promise<Ids> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await import('hyparquet');
  const scratch = await target.scratch(path);
  try {
    await writeFile(scratch, stream);
    const file = await asyncBufferFromFile(scratch);
    const metadata = await parquetMetadataAsync(file);
    const ids = new Ids();
    for (const { num_rows } of metadata.row_groups) {
      const rowStart = ids.cells;
      const rowEnd = rowStart + Number(num_rows);
      const rows = await parquetReadObjects({ file, metadata, columns: ['added_id'], rowStart, rowEnd });
      for (const { added_id } of rows) ids.add(Number(added_id));
    }
    return ids;
  } finally {
    await rm(scratch, { force: true });
  }
}

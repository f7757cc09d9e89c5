import { createHash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { compressionOf, decompressor } from '../../../../shared/files/compression.ts';
import { FilesError } from '../../../../shared/files/files-error.ts';
import { readLines } from '../import/read-lines.ts';
import {
  listParts,
  readManifests,
  type ExportedShard,
  type Manifest,
  type Part,
} from '../../../../shared/files/manifest.ts';
import type { ExportTarget } from '../../../../shared/files/target.ts';

export interface CheckReport {
  readonly parts: number;
  readonly files: number;
  readonly cells: number;
  /** What is not as the manifests say, each a sentence. */
  readonly faults: readonly string[];
}

/**
 * Looks at all parts of an export: that each range begins where the one before ended, that each file has the size, the
 * SHA-256 and the cells that its manifest says, and that their added ids have no hole.
 *
 * @param signal ends it: then nothing is returned. @default nothing does
 * @throws FilesError `bad_manifest`; `bad_input` where there is no export
 */
export async function checkExport(target: ExportTarget): Promise<CheckReport>;
export async function checkExport(target: ExportTarget, signal: AbortSignal): Promise<CheckReport | undefined>;
export async function checkExport(target: ExportTarget, signal?: AbortSignal): Promise<CheckReport | undefined> {
  const parts = await readManifests(target);
  if (parts.length === 0) throw new FilesError('bad_input', `${target.name}: wanted a complete export, got none`);
  const faults: string[] = [];
  const complete = new Set(parts.map(({ part }) => part));
  for (const part of await listParts(target)) if (!complete.has(part)) faults.push(`${part} is not complete`);
  faults.push(...checkRanges(parts));
  let [files, cells] = [0, 0];
  for (const { part, manifest } of parts) {
    for (const shard of manifest.shards) {
      if (!shard.file) continue;
      files += 1;
      cells += shard.cells;
      const path = `${part}/${shard.file.name}`;
      const fault = await checkFile({ target, path, signal }, shard, manifest).catch((error: unknown) => String(error));
      if (signal?.aborted) return undefined;
      if (fault !== undefined) faults.push(`${path}: ${fault}`);
    }
  }
  return { parts: parts.length, files, cells, faults };
}

/** What the manifests say themselves: each part begins where the one before ended. Returns faults, each a sentence. */
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

/** Returns what is wrong. */
async function checkFile(
  {
    target,
    path,
    signal,
  }: { readonly target: ExportTarget; readonly path: string; readonly signal?: AbortSignal | undefined },
  { after, to, cells, file }: ExportedShard,
  { format }: Manifest,
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
  const found = format === 'parquet' ? await rowsOfParquet(stream, target, path) : await idsOfLines(stream, path);
  const hash = sum.digest('hex');
  if (bytes !== file?.bytes) return `wanted ${file?.bytes} bytes, got ${bytes}`;
  if (hash !== file.sha256) return `wanted the SHA-256 ${file.sha256}, got ${hash}`;
  if (found.cells !== cells) return `wanted ${cells} cells, got ${found.cells}`;
  if (found.first !== undefined && (found.first !== after + 1 || found.last !== to || found.hole !== undefined))
    return `wanted the added ids ${after + 1} to ${to}, got ${found.first} to ${found.last}${found.hole === undefined ? '' : `, with a hole at ${found.hole}`}`;
  return undefined;
}

interface FoundIds {
  readonly cells: number;
  /** Added ids, where they were looked at. */
  readonly first?: number | undefined;
  readonly last?: number | undefined;
  readonly hole?: number | undefined;
}

async function idsOfLines(stream: Readable, path: string): Promise<FoundIds> {
  const transform = decompressor(compressionOf(path));
  stream.on('error', (error) => transform?.destroy(error));
  const found = { cells: 0, first: undefined as number | undefined, last: undefined as number | undefined };
  let hole: number | undefined;
  for await (const lines of readLines(transform ? stream.pipe(transform) : stream, Number.MAX_SAFE_INTEGER)) {
    for (const { bytes } of lines) {
      const { added_id } = JSON.parse(String(bytes)) as { added_id: number };
      if (found.last !== undefined && added_id !== found.last + 1) hole ??= found.last + 1;
      found.first ??= added_id;
      found.last = added_id;
      found.cells += 1;
    }
  }
  return { ...found, hole };
}

/** The rows that its footer says: their bytes are those of the SHA-256. */
async function rowsOfParquet(stream: Readable, target: ExportTarget, path: string): Promise<FoundIds> {
  const { asyncBufferFromFile, parquetMetadataAsync } = await import('hyparquet');
  const scratch = `${await target.scratch(path)}.check`;
  try {
    await writeFile(scratch, stream);
    const { num_rows } = await parquetMetadataAsync(await asyncBufferFromFile(scratch));
    return { cells: Number(num_rows) };
  } finally {
    await rm(scratch, { force: true });
  }
}

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { FIELD_TYPES } from '../definitions/definitions.ts';
import { FilesError } from './files-error.ts';
import type { ExportTarget } from './target.ts';

export const FORMAT_VERSION = 1;

/** Names that begin so are no data: what reads the files of a folder, as Athena does, passes them over. */
export const MANIFEST = '_manifest.json';
/** The plan of a part, written before anything else, and its content so far. */
export const PLAN = '_plan.json';
export const DONE = '_done.json';

const count = z.int().nonnegative();
/** Of a log, see `log-digest.ts`. Missing behind a body that could not be decoded. */
const digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/u)
  .optional();

/** Of one shard the cells behind `after`, up to `to`. */
const rangeSchema = z.object({
  shard: count,
  after: count,
  to: count,
  /** When the cell at `after` was stored: another time there means that the log was cut since. */
  after_created_at: z.string().nullable(),
  after_digest: digest,
});

/** A file of the part's own folder, as exports name it: a manifest may come from anybody. */
const fileName = z.string().regex(/^\d{4,}\.(?:ndjson(?:\.gz|\.zst)?|parquet)$/u);

const shardSchema = rangeSchema.extend({
  cells: count,
  /** When the cell at `to` was stored; null where the log is empty. */
  to_created_at: z.string().nullable(),
  to_digest: digest,
  file: z.object({ name: fileName, bytes: count, sha256: z.string() }).optional(),
});

const typedColumnSchema = z.object({
  name: z.string(),
  field: z.string(),
  type: z.enum(FIELD_TYPES),
  column_name: z.string(),
});

const contentSchema = z.object({
  format_version: z.literal(FORMAT_VERSION),
  datastore: z.string(),
  /** Of the datastore: a row's shard is a matter of their number. */
  shard_count: count,
  format: z.enum(['ndjson', 'parquet']),
  compression: z.enum(['none', 'gzip', 'zstd', 'snappy']),
  typed_columns: z.array(typedColumnSchema),
  /** Sealed fields are as they are read; missing where they are as they are stored. */
  opened: z.literal(true).optional(),
  began_at: z.string(),
});

const planSchema = contentSchema.extend({
  ranges: z.array(rangeSchema),
  /** Shards whose length could not be read: their ranges are empty. */
  unknown: z.array(count).optional(),
  /** Of the part before; missing where there is none. */
  exported_until: z.string().optional(),
});
const manifestSchema = contentSchema.extend({
  completed_at: z.string(),
  cells: count,
  /** A time: whatever was stored before is in this part, or in one before it. */
  exported_until: z.string(),
  shards: z.array(shardSchema),
});
const doneSchema = z.array(shardSchema);

export type Range = z.infer<typeof rangeSchema>;
export type ExportedShard = z.infer<typeof shardSchema>;
export type TypedColumn = z.infer<typeof typedColumnSchema>;
export type Plan = z.infer<typeof planSchema>;
/** The content of a part. Written last: a part without it is not complete. */
export type Manifest = z.infer<typeof manifestSchema>;

export interface Part {
  readonly part: string;
  readonly manifest: Manifest;
}

const PART = /^part-\d{4,}$/u;

export function partName(position: number): string {
  return `part-${String(position).padStart(4, '0')}`;
}

/** Whether an export made a folder, or began to. */
export function isExport(folder: string): boolean {
  return readdirSync(folder).some((name) => PART.test(name) && existsSync(join(folder, name, MANIFEST)));
}

/** The parts of a target, in their order; the last one may lack its manifest. */
export async function listParts(target: ExportTarget): Promise<readonly string[]> {
  const names = (await target.folders()).filter((name) => PART.test(name));
  return names.toSorted((one, other) => Number(one.slice(5)) - Number(other.slice(5)));
}

/** Those that are complete, in their order. Throws `bad_manifest`. */
export async function readManifests(target: ExportTarget): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const part of await listParts(target)) {
    const manifest = await read(target, part, MANIFEST, manifestSchema);
    if (manifest) parts.push({ part, manifest });
  }
  return parts;
}

/** A part that is not complete. */
export interface PlannedPart {
  readonly part: string;
  readonly plan: Plan;
}

interface LastParts {
  readonly last: Part | undefined;
  readonly begun: PlannedPart | undefined;
}

/** Reads only the last parts of a target: a scheduled one has thousands. Throws `bad_manifest`. */
export async function readLastParts(target: ExportTarget): Promise<LastParts> {
  let begun: LastParts['begun'];
  for (const part of (await listParts(target)).toReversed()) {
    const manifest = await read(target, part, MANIFEST, manifestSchema);
    if (manifest) return { last: { part, manifest }, begun };
    const plan = await read(target, part, PLAN, planSchema);
    if (plan) begun = { part, plan };
  }
  return { last: undefined, begun };
}

export async function readDone(target: ExportTarget, part: string): Promise<readonly ExportedShard[]> {
  return (await read(target, part, DONE, doneSchema)) ?? [];
}

async function read<Value>(
  target: ExportTarget,
  part: string,
  name: string,
  schema: z.ZodType<Value>,
): Promise<Value | undefined> {
  const text = await target.readText(`${part}/${name}`);
  if (text === undefined) return undefined;
  const path = `${target.name}/${part}/${name}`;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new FilesError('bad_manifest', `${path}: wanted JSON: ${String(cause)}`, { cause });
  }
  const { data, error } = schema.safeParse(json);
  if (error) throw new FilesError('bad_manifest', `${path}:\n${z.prettifyError(error)}`);
  return data;
}

import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { readManifests } from '../../../shared/files/manifest.ts';
import { folderTarget } from '../files/export/folder-target.ts';
import { badUsage, type CommandError } from '../command-error.ts';

const line = z.object({
  shard: z.int().nonnegative(),
  at: z.int().nonnegative(),
  digest: z.string().regex(/^[0-9a-f]{64}$/u),
});
const failure = z.object({ shard: z.int().nonnegative(), error: z.object({}) });

type KnownDigest = z.infer<typeof line>;

/** Reads digests that `digest` printed or an export's last part has. Throws a CommandError without any. */
export async function readKnownDigests(file: string): Promise<readonly KnownDigest[]> {
  const isFolder = statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const known = isFolder ? await digestsOfExport(file) : digestsOfFile(file);
  if (known.length === 0) throw notPrinted(`${file}, which lists none`);
  return known;
}

function digestsOfFile(file: string): readonly KnownDigest[] {
  return textOf(file)
    .split('\n')
    .flatMap((text, position) => toKnown(text, `line ${position + 1} of ${file}`));
}

async function digestsOfExport(folder: string): Promise<readonly KnownDigest[]> {
  const last = (await readManifests(folderTarget(folder))).at(-1);
  return (last?.manifest.shards ?? []).flatMap(({ shard, to, to_digest }) =>
    to_digest === undefined ? [] : [{ shard, at: to, digest: to_digest }],
  );
}

function toKnown(text: string, place: string): readonly KnownDigest[] {
  if (text.trim() === '') return [];
  const value = jsonOf(text);
  const { data } = line.safeParse(value);
  if (data) return [data];
  if (failure.safeParse(value).success) return [];
  throw notPrinted(`${text.slice(0, 80)} in ${place}`);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw notPrinted((error as Error).message);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function notPrinted(got: string): CommandError {
  return badUsage('--compare', 'digests as NDJSON, as schemaless digest prints them, or the folder of an export', got);
}

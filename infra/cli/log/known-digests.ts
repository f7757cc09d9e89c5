import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { badUsage, type CommandError } from '../command-error.ts';

const line = z.object({
  shard: z.int().nonnegative(),
  at: z.int().nonnegative(),
  digest: z.string().regex(/^[0-9a-f]{64}$/u),
});
/** Of a shard that could not be read. */
const failure = z.object({ shard: z.int().nonnegative(), error: z.object({}) });

/** The digest that a shard's log had at a place. */
export type KnownDigest = z.infer<typeof line>;

/**
 * Those that a file lists, as `schemaless digest` prints them, but for shards that could not be read then.
 *
 * @throws CommandError also where there is none
 */
export function readKnownDigests(file: string): readonly KnownDigest[] {
  const known = textOf(file)
    .split('\n')
    .flatMap((text, position) => toKnown(text, `line ${position + 1} of ${file}`));
  if (known.length === 0) throw notPrinted(`${file}, which lists none`);
  return known;
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
  return badUsage('--compare', 'digests as NDJSON, as schemaless digest prints them', got);
}

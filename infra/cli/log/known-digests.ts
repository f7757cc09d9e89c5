import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { badUsage } from '../command-error.ts';

const line = z.object({
  shard: z.int().nonnegative(),
  at: z.int().nonnegative(),
  digest: z.string().regex(/^[0-9a-f]{64}$/u),
});

/** The digest that a shard's log had at a place. */
export type KnownDigest = z.infer<typeof line>;

/** Those that a file lists, as `schemaless digest` prints them. Throws CommandError. */
export function readKnownDigests(file: string): readonly KnownDigest[] {
  const lines = textOf(file).split('\n');
  return lines.flatMap((text, position) => {
    if (text.trim() === '') return [];
    const { data } = line.safeParse(jsonOf(text));
    if (!data)
      throw badUsage(
        '--compare',
        'NDJSON that schemaless digest printed',
        `${text.slice(0, 80)} in line ${position + 1} of ${file}`,
      );
    return [data];
  });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw badUsage('--compare', 'NDJSON that schemaless digest printed', (error as Error).message);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

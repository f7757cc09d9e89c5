import { readFileSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { z } from 'zod';
import type { Role } from '../../../shared/cell.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { readManifests } from '../../../shared/files/manifest.ts';
import { slicesOf } from '../../../shared/slices-of.ts';
import { command } from '../cli.ts';
import { badUsage, endingOf, type CommandError, type Ending } from '../errors.ts';
import { folderTarget } from '../files/export/folder-target.ts';
import { readFlag, shardNumbers, wholeNumberFlag } from '../flags.ts';
import { digestLog, type DigestRequest } from '../log/digest-log.ts';
import type { Column } from '../output/output.ts';

interface DigestFlags {
  readonly at?: number;
  readonly compare?: string;
  readonly read?: Role;
}

interface Wanted extends DigestRequest {
  /** The earlier digest, or another store's. @default it is not compared */
  readonly known?: string;
  /** The error that hides the end of the log. */
  readonly error?: SchemalessError | undefined;
}

/** A line of the output. */
interface Digested {
  readonly shard: number;
  readonly at?: number;
  readonly digest?: string;
  /** The digest in the file, if it differs. */
  readonly wanted?: { readonly at: number; readonly digest: string };
  readonly error?: SchemalessError;
}

/** Shards at the same time: few, since each log is read to its end. */
const AT_ONCE = 4;

const COLUMNS: readonly Column<Digested>[] = [
  { header: 'SHARD', value: ({ shard }) => shard },
  { header: 'AT', value: ({ at }) => at },
  {
    header: 'DIGEST',
    value: ({ digest, error }) => (error ? `(${error.code}: ${error.message})` : digest),
  },
  { header: 'WANTED', value: ({ wanted }) => wanted && `${wanted.digest} at ${wanted.at}` },
];

export function digest(): Command {
  return command('digest')
    .description('print a digest of the log of each shard, or compare it with an earlier one')
    .argument('[shard...]', 'their numbers (default: all shards, or those of the file)', shardNumbers)
    .addOption(wholeNumberFlag('--at <id>', 'up to this added id (default: the last one)', 0, 2 ** 53 - 1))
    .option(
      '--compare <file>',
      'NDJSON that this command printed, or the folder of an export: prints the shards whose logs differ',
    )
    .addOption(readFlag())
    .examples(
      ['schemaless digest 233', 'of a shard, up to its last cell'],
      ['schemaless digest > digests.ndjson', 'of all shards'],
      ['schemaless digest --compare digests.ndjson --read reader', 'whether readers have the same cells'],
      ['schemaless digest --compare digests.ndjson --profile copy', 'whether a copy has them'],
      ['schemaless digest --compare exported', 'whether exported cells are still stored, unchanged'],
    )
    .notes(`Reads every cell up to that added id. With --compare it prints nothing if all are equal, and ends with 8 if one differs.
Compares each log at the added id in the file, and ignores later cells. A log that ends before it differs; a reader
that is behind or does not answer ends it with 5.`)
    .run<[shards: readonly number[] | undefined], DigestFlags>(async (session, [named = []], flags) => {
      const shards = named.length > 0 ? named : undefined;
      const { compare, at, read } = flags;
      if (compare !== undefined && at !== undefined)
        throw badUsage('--at', 'none with --compare, whose file has it', String(at));
      const endings: Ending[] = [];
      let wanted: readonly Wanted[];
      const known = compare === undefined ? undefined : await readKnown(compare, shards);
      const client = await session.connect();
      if (known) {
        session.note(`${known.length} of ${(await client.heads({ read })).length} shards are compared`);
        wanted = known.map(({ shard, at: to, digest: was }) => ({ shard, at: to, known: was, read }));
      } else {
        const ends = (await client.heads({ read })).filter(({ shard }) => shards?.includes(shard) ?? true);
        const missing = shards?.find((shard) => !ends.some((end) => end.shard === shard));
        if (missing !== undefined) await client.digest({ shard: missing, at: 0 });
        const failed = ends.filter((end) => end.error !== undefined).map((end) => ({ ...end, at: 0 }));
        if (failed.length > 0) endings.push('unavailable');
        const there = ends.flatMap((end) => (end.error ? [] : [{ shard: end.shard, at: at ?? end.head, read }]));
        wanted = [...there, ...failed];
      }
      await session.output.list<Digested>(digested(client, wanted, endings), COLUMNS);
      return endings.includes('differs') ? 'differs' : (endings[0] ?? 'ok');
    });
}

async function readKnown(file: string, shards: readonly number[] | undefined) {
  const known = await readKnownDigests(file);
  const missing = shards?.find((shard) => !known.some((one) => one.shard === shard));
  if (missing !== undefined) throw badUsage('shard', `one that ${file} lists`, String(missing));
  return known.filter(({ shard }) => shards?.includes(shard) ?? true);
}

async function* digested(
  client: SchemalessClient,
  wanted: readonly Wanted[],
  endings: Ending[],
): AsyncGenerator<readonly Digested[]> {
  for (const some of slicesOf(wanted, AT_ONCE)) {
    const found = await Promise.all(some.map((one) => digestOne(client, one)));
    const told = found.filter((one) => one !== undefined);
    for (const { error, wanted: other } of told) {
      if (error) endings.push(endingOf(error));
      if (other) endings.push('differs');
    }
    yield told;
  }
}

/** Returns undefined if it is unchanged. */
async function digestOne(client: SchemalessClient, desired: Wanted): Promise<Digested | undefined> {
  const { shard, known } = desired;
  try {
    if (desired.error) throw desired.error;
    const { at, digest } = await digestLog(client, desired);
    if (at < desired.at && known === undefined)
      return { shard, at, error: new SchemalessError('unavailable', `the log ends at ${at}, before ${desired.at}`) };
    if (known === undefined) return { shard, at, digest };
    return known === digest && at >= desired.at
      ? undefined
      : { shard, at, digest, wanted: { at: desired.at, digest: known } };
  } catch (error) {
    if (!(error instanceof SchemalessError)) throw error;
    return { shard, error };
  }
}

const line = z.object({
  shard: z.int().nonnegative(),
  at: z.int().nonnegative(),
  digest: z.string().regex(/^[0-9a-f]{64}$/u),
});
const failure = z.object({ shard: z.int().nonnegative(), error: z.object({}) });

type KnownDigest = z.infer<typeof line>;

/** Reads digests from the output of `digest`, or an export's last part. Throws a CommandError without any. */
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
  return badUsage('--compare', 'digests as NDJSON from schemaless digest, or the folder of an export', got);
}

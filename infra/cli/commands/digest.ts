import { readFileSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { z } from 'zod';
import type { Role } from '../../../shared/cell.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { readManifests } from '../../../shared/files/manifest.ts';
import { command } from '../cli.ts';
import { badUsage, endingOf, type CommandError, type Ending } from '../errors.ts';
import { folderTarget } from '../files/export/folder-target.ts';
import { readFlag, shardNumbers, wholeNumberFlag } from '../flags.ts';
import { digestLog, type DigestWish } from '../log/digest-log.ts';
import type { Column } from '../output/output.ts';

interface DigestFlags {
  readonly at?: number;
  readonly compare?: string;
  readonly read?: Role;
}

interface Wanted extends DigestWish {
  /** What it was before, or elsewhere. @default it is not compared */
  readonly known?: string;
  /** Why nobody knows where it ends. */
  readonly error?: SchemalessError | undefined;
}

/** A line of the output. */
interface Digested {
  readonly shard: number;
  readonly at?: number;
  readonly digest?: string;
  /** What it is not, though the file says so. */
  readonly wanted?: { readonly at: number; readonly digest: string };
  readonly error?: SchemalessError;
}

/** Shards at once: each is read to its end, and the servers have others to serve. */
const TOGETHER = 4;

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
    .description('says in one value for each shard what its log holds, or whether it is what it was')
    .argument('[shard...]', 'their numbers (default: all shards, or those of the file)', shardNumbers)
    .addOption(wholeNumberFlag('--at <id>', 'up to this added id (default: the last one)', 0, 2 ** 53 - 1))
    .option(
      '--compare <file>',
      'of NDJSON that this command printed, or the folder of an export: prints the shards whose logs differ from it',
    )
    .addOption(readFlag())
    .examples(
      ['schemaless digest 233', 'of a shard, up to its last cell'],
      ['schemaless digest > digests.ndjson', 'of all shards'],
      ['schemaless digest --compare digests.ndjson --read reader', 'whether readers have the same'],
      ['schemaless digest --compare digests.ndjson --profile copy', 'whether a copy has'],
      ['schemaless digest --compare exported', 'whether what was exported is still there, as it was'],
    )
    .notes(`Reads every cell up to there. With --compare it prints nothing where all are equal, and ends with 8 where one differs;
each is compared at the place that the file names, whatever was written since. A log that ends before differs; a reader
that is behind, or does not answer, is told apart: that ends with 5.`)
    .run<[shards: readonly number[] | undefined], DigestFlags>(async (session, [named = []], flags) => {
      const shards = named.length > 0 ? named : undefined;
      const { compare, at, read } = flags;
      if (compare !== undefined && at !== undefined)
        throw badUsage('--at', 'none beside --compare, whose file says it', String(at));
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
  for (let from = 0; from < wanted.length; from += TOGETHER) {
    const found = await Promise.all(wanted.slice(from, from + TOGETHER).map((one) => digestOne(client, one)));
    const told = found.filter((one) => one !== undefined);
    for (const { error, wanted: other } of told) {
      if (error) endings.push(endingOf(error));
      if (other) endings.push('differs');
    }
    yield told;
  }
}

/** Undefined where it is as it was. */
async function digestOne(client: SchemalessClient, wish: Wanted): Promise<Digested | undefined> {
  const { shard, known } = wish;
  try {
    if (wish.error) throw wish.error;
    const { at, digest } = await digestLog(client, wish);
    if (at < wish.at && known === undefined)
      return { shard, at, error: new SchemalessError('unavailable', `the log ends at ${at}, before ${wish.at}`) };
    if (known === undefined) return { shard, at, digest };
    return known === digest && at >= wish.at
      ? undefined
      : { shard, at, digest, wanted: { at: wish.at, digest: known } };
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

import type { Command } from 'commander';
import type { Role } from '../../../shared/cell.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { command } from '../cli.ts';
import { badUsage } from '../command-error.ts';
import { endingOf } from '../ending-of.ts';
import type { Ending } from '../exit-codes.ts';
import { readFlag, shardNumbers, wholeNumberFlag } from '../flags.ts';
import { digestLog, type DigestWish } from '../log/digest-log.ts';
import { readKnownDigests } from '../log/known-digests.ts';
import type { Column } from '../output/output.ts';
import type { Session } from '../session.ts';

interface DigestFlags {
  readonly at?: number;
  readonly compare?: string;
  readonly read?: Role;
}

interface Wanted extends DigestWish {
  /** What it was before, or elsewhere. @default it is not compared */
  readonly known?: string;
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
      if (compare !== undefined) {
        const { client, wanted } = await wantedOf(session, { file: compare, shards, read });
        await session.output.list<Digested>(differing(digested(client, wanted, endings)), COLUMNS);
      } else {
        const client = await session.connect();
        const ends = (await client.heads({ read })).filter(({ shard }) => shards?.includes(shard) ?? true);
        const missing = shards?.find((shard) => !ends.some((end) => end.shard === shard));
        if (missing !== undefined) await client.digest({ shard: missing, at: 0 });
        const failed = ends.filter((end) => end.error !== undefined);
        if (failed.length > 0) endings.push('unavailable');
        const wanted = ends.flatMap((end) => (end.error ? [] : [{ shard: end.shard, at: at ?? end.head, read }]));
        await session.output.list<Digested>(whole(digested(client, wanted, endings), failed), COLUMNS);
      }
      return endings.includes('differs') ? 'differs' : (endings[0] ?? 'ok');
    });
}

interface Comparing {
  readonly file: string;
  readonly shards: readonly number[] | undefined;
  readonly read: Role | undefined;
}

async function wantedOf(session: Session, { file, shards, read }: Comparing) {
  const known = await readKnownDigests(file);
  const missing = shards?.find((shard) => !known.some((one) => one.shard === shard));
  if (missing !== undefined) throw badUsage('shard', `one that ${file} lists`, String(missing));
  const client = await session.connect();
  const wanted = known
    .filter(({ shard }) => shards?.includes(shard) ?? true)
    .map((one): Wanted => ({ shard: one.shard, at: one.at, known: one.digest, read }));
  const all = (await client.heads({ read })).length;
  session.note(`${wanted.length} of ${all} shards are compared`);
  return { client, wanted };
}

async function* digested(
  client: SchemalessClient,
  wanted: readonly Wanted[],
  endings: Ending[],
): AsyncGenerator<readonly Digested[]> {
  for (let from = 0; from < wanted.length; from += TOGETHER) {
    const found = await Promise.all(wanted.slice(from, from + TOGETHER).map((one) => digestOne(client, one)));
    for (const { error, wanted: other } of found) {
      if (error) endings.push(endingOf(error));
      if (other) endings.push('differs');
    }
    yield found;
  }
}

async function digestOne(client: SchemalessClient, wish: Wanted): Promise<Digested> {
  const { shard, known } = wish;
  try {
    const { at, digest } = await digestLog(client, wish);
    if (at < wish.at && known === undefined)
      return { shard, at, error: new SchemalessError('unavailable', `the log ends at ${at}, before ${wish.at}`) };
    const differs = known !== undefined && (known !== digest || at < wish.at);
    return { shard, at, digest, ...(differs && { wanted: { at: wish.at, digest: known } }) };
  } catch (error) {
    if (!(error instanceof SchemalessError)) throw error;
    return { shard, error };
  }
}

async function* differing(pages: AsyncIterable<readonly Digested[]>): AsyncGenerator<readonly Digested[]> {
  for await (const page of pages) yield page.filter(({ error, wanted }) => error ?? wanted);
}

async function* whole(
  pages: AsyncIterable<readonly Digested[]>,
  failed: readonly Digested[],
): AsyncGenerator<readonly Digested[]> {
  yield* pages;
  yield failed;
}

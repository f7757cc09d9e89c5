import { Command } from 'commander';
import type { Role } from '../../../shared/cell.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { action, examples } from '../cli.ts';
import type { Ending } from '../exit-codes.ts';
import { readFlag, wholeNumber, wholeNumberFlag } from '../flags.ts';
import { digestLog } from '../log/digest-log.ts';
import { readKnownDigests } from '../log/known-digests.ts';
import type { Column } from '../output/output.ts';

interface DigestFlags {
  readonly at?: number;
  readonly compare?: string;
  readonly read?: Role;
}

/** A line of the output. */
interface Digested {
  readonly shard: number;
  readonly at?: number;
  readonly digest?: string;
  /** What the file says, where it is another one. */
  readonly wanted?: string;
  readonly error?: SchemalessError;
}

/** Shards at once: each is read to its end, and the servers have others to serve. */
const TOGETHER = 4;

const COLUMNS: readonly Column<Digested>[] = [
  { header: 'SHARD', value: ({ shard }) => shard },
  { header: 'AT', value: ({ at }) => at },
  {
    header: 'DIGEST',
    value: ({ digest, wanted, error }) =>
      error ? `(${error.code}: ${error.message})` : wanted === undefined ? digest : `${digest}, not ${wanted}`,
  },
];

/** `schemaless digest`. */
export function digest(): Command {
  return new Command('digest')
    .description('says in one value for each shard what its log holds, or whether it is what it was')
    .argument(
      '[shard...]',
      'their numbers (default: all shards, or those of the file)',
      (value: string, before: readonly number[] = []): readonly number[] => [...before, wholeNumber(value, 0, 65_535)],
    )
    .addOption(wholeNumberFlag('--at <id>', 'up to this added id (default: the last one)', 0, 2 ** 53 - 1))
    .option('--compare <file>', 'of NDJSON that this command printed: prints the shards whose logs differ from it')
    .addOption(readFlag())
    .addHelpText(
      'after',
      `${examples(
        ['schemaless digest 233', 'of a shard, up to its last cell'],
        ['schemaless digest > digests.ndjson', 'of all shards'],
        ['schemaless digest --compare digests.ndjson --read reader', 'whether readers have the same'],
        ['schemaless digest --compare digests.ndjson --profile copy', 'whether a copy has'],
      )}

Reads every cell up to there. With --compare it prints nothing where all are equal, and ends with 8 where one differs;
each is compared at the place that the file names, whatever was written since.`,
    )
    .action(
      action<[shards: readonly number[] | undefined], DigestFlags>(async (session, [shards], flags) => {
        const known = flags.compare === undefined ? undefined : readKnownDigests(flags.compare);
        const client = await session.connect();
        const wanted = known
          ? known.filter(({ shard }) => shards?.includes(shard) ?? true)
          : (shards ?? (await client.heads()).map(({ shard }) => shard)).map((shard) => ({ shard, at: flags.at }));
        const endings = new Set<Ending>();
        await session.output.list<Digested>(digested(client, wanted, { read: flags.read, endings }), COLUMNS);
        return endings.has('unavailable') ? 'unavailable' : endings.has('differs') ? 'differs' : 'ok';
      }),
    );
}

interface Wanted {
  readonly shard: number;
  readonly at?: number | undefined;
  /** @default it is not compared */
  readonly digest?: string;
}

/** Those that are to be shown: of such that were known, what is not as it was. */
async function* digested(
  client: SchemalessClient,
  wanted: readonly Wanted[],
  { read, endings }: { readonly read: Role | undefined; readonly endings: Set<Ending> },
): AsyncGenerator<readonly Digested[]> {
  for (let from = 0; from < wanted.length; from += TOGETHER) {
    const found = await Promise.all(wanted.slice(from, from + TOGETHER).map((one) => digestOne(client, one, read)));
    for (const { error, wanted: other } of found) {
      if (error) endings.add('unavailable');
      if (other !== undefined) endings.add('differs');
    }
    yield found.filter(
      ({ error, wanted: other }, position) => error ?? other ?? wanted[from + position]?.digest === undefined,
    );
  }
}

async function digestOne(
  client: SchemalessClient,
  { shard, at, digest: known }: Wanted,
  read: Role | undefined,
): Promise<Digested> {
  try {
    const found = await digestLog(client, shard, { at, read });
    const differs = known !== undefined && known !== found.digest;
    return { shard, at: found.at, digest: found.digest, ...(differs && { wanted: known }) };
  } catch (error) {
    // What is wrong with the question is wrong with all of them.
    if (!(error instanceof SchemalessError) || error.field !== undefined) throw error;
    return { shard, ...(at !== undefined && { at }), error };
  }
}

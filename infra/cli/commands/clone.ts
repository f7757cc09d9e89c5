import type { Command } from 'commander';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { command } from '../cli.ts';
import { badUsage, CommandError } from '../command-error.ts';
import { endingOf } from '../ending-of.ts';
import type { Ending } from '../exit-codes.ts';
import { untilInterrupted } from '../files/interrupt.ts';
import { showProgress } from '../files/progress.ts';
import { shardNumbers } from '../flags.ts';
import { cloneLog, OtherLog, type ClonedShard, type Cloning } from '../log/clone-log.ts';
import type { Column } from '../output/output.ts';
import { openSession, type Connecting, type Session } from '../session.ts';

interface CloneFlags {
  /** A profile, or a URL. */
  readonly from: string;
  readonly fromDatastore?: string;
}

interface Cloned {
  readonly shard: number;
  readonly at?: number;
  readonly digest?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Shards at once: each goes in the order of its log, a batch at a time. */
const TOGETHER = 8;

const COLUMNS: readonly Column<Cloned>[] = [
  { header: 'SHARD', value: ({ shard }) => shard },
  { header: 'AT', value: ({ at }) => at },
  { header: 'DIGEST', value: ({ digest, error }) => (error ? `(${error.code}: ${error.message})` : digest) },
];

export function clone(): Command {
  return command('clone')
    .description('copies a datastore of another API to this one, with its added ids and times, and compares both')
    .argument('[shard...]', 'their numbers (default: all shards)', shardNumbers)
    .requiredOption('--from <api>', 'a profile, or the URL of an API')
    .option('--from-datastore <name>', 'there (default: as the profile says, or the only one)')
    .examples(
      ['schemaless clone --from prod', 'all of the datastore, to where commands go by themselves'],
      ['schemaless clone --from prod --url http://127.0.0.1:3000 7 233', 'two shards, to a local stack'],
    )
    .notes(`The datastore has to have as many shards as the other, be empty or hold what was cloned before, and take no writes of
others meanwhile: their cells would take added ids. Called again it goes on where it was, with what came since. In the
end the digests of both logs are equal; one that differs ends it with 8. Indexes and triggers of the datastore see
its cells as they see any: leave its triggers undefined, or paused, where they are not to be told.`)
    .run<[shards: readonly number[] | undefined], CloneFlags>(async (session, [named = []], flags) =>
      cloneAll(session, named, flags),
    );
}

async function cloneAll(session: Session, named: readonly number[], flags: CloneFlags): Promise<Ending> {
  const interrupt = untilInterrupted();
  const shown = await showProgress(process.stderr);
  try {
    const more: Connecting = { signal: interrupt.afterwards };
    const [source, target] = await Promise.all([sourceOf(flags, more), session.connect(more)]);
    const wanted = await wantedOf(source, target, named);
    let cells = wanted.reduce((sum, { at }) => sum + at, 0);
    const totalCells = wanted.reduce((sum, { to }) => sum + to, 0);
    const cloning: Cloning = {
      source,
      target,
      signal: interrupt.signal,
      tell: (more_) => shown.tell({ cells: (cells += more_), totalCells }),
    };
    const endings: Ending[] = [];
    await session.output.list<Cloned>(cloned(cloning, wanted, endings), COLUMNS);
    if (interrupt.signal.aborted) return 'interrupted';
    return endings.includes('differs') ? 'differs' : (endings[0] ?? 'ok');
  } finally {
    shown.stop();
    interrupt.end();
  }
}

function sourceOf({ from, fromDatastore }: CloneFlags, more: Connecting): Promise<SchemalessClient> {
  const at = /^https?:/u.test(from) ? { url: from } : { profile: from };
  return openSession({ ...at, ...(fromDatastore !== undefined && { datastore: fromDatastore }) }).connect(more);
}

async function wantedOf(
  source: SchemalessClient,
  target: SchemalessClient,
  named: readonly number[],
): Promise<readonly ClonedShard[]> {
  const [there, here] = await Promise.all([source.heads(), target.heads()]);
  if (there.length !== here.length)
    throw new CommandError(`${source.name} has ${there.length} shards, ${target.name} here ${here.length}`, {
      ending: 'usage',
      cure: 'Clone into a datastore with as many shards: where a row lies depends on their number',
    });
  const missing = named.find((shard) => shard >= there.length);
  if (missing !== undefined) throw badUsage('shard', `0 to ${there.length - 1}`, String(missing));
  return there.flatMap((one): ClonedShard[] => {
    const own = here[one.shard];
    if (named.length > 0 && !named.includes(one.shard)) return [];
    if (one.error) throw one.error;
    if (!own || own.error) throw own?.error ?? new SchemalessError('unavailable', `no shard ${one.shard} here`);
    return [{ shard: one.shard, to: one.head, at: own.head }];
  });
}

async function* cloned(
  cloning: Cloning,
  wanted: readonly ClonedShard[],
  endings: Ending[],
): AsyncGenerator<readonly Cloned[]> {
  for (let from = 0; from < wanted.length && !cloning.signal.aborted; from += TOGETHER)
    yield await Promise.all(
      wanted.slice(from, from + TOGETHER).map(async (one): Promise<Cloned> => {
        try {
          return { shard: one.shard, ...(await cloneLog(cloning, one)) };
        } catch (error) {
          if (!(error instanceof OtherLog) && !(error instanceof SchemalessError)) throw error;
          endings.push(error instanceof OtherLog ? 'differs' : endingOf(error));
          const code = error instanceof OtherLog ? 'differs' : error.code;
          return { shard: one.shard, error: { code, message: error.message } };
        }
      }),
    );
}

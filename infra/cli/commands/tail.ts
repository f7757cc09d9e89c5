import { existsSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Cell, Location, Role } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { writeFileAtomically } from '../../local/folder/state-file.ts';
import { command } from '../cli.ts';
import { badUsage, type Ending } from '../errors.ts';
import { limitFlag, readFlag, readTime, repeatableFlag, shardNumbers } from '../flags.ts';
import { followLogs, type LogPage } from '../log/follow-logs.ts';
import { exitWithReader, untilStopped, type Column } from '../output/output.ts';
import type { Session } from '../session.ts';
import { CELL_COLUMNS } from './read.ts';

interface TailFlags {
  readonly follow?: true;
  readonly from?: string;
  readonly column?: readonly string[];
  readonly limit?: number;
  readonly offsets?: string;
  readonly read?: Role;
}

/** The shortest interval between writes of offsets, except at the end. */
const SAVE_EVERY_MS = 200;

const COLUMNS: readonly Column<Cell>[] = [
  { header: 'SHARD', value: ({ shard }) => shard },
  ...['ADDED', 'CREATED', 'ROW KEY', 'COLUMN', 'REF', 'BODY'].flatMap(
    (header) => CELL_COLUMNS.find((column) => column.header === header) ?? [],
  ),
];

export function tail(): Command {
  return command('tail')
    .description('read the logs of shards: their cells in the order of their added ids')
    .argument('[shard...]', 'their numbers (default: all shards)', shardNumbers)
    .option('-f, --follow', 'continue at the ends of the logs, until Ctrl-C')
    .option(
      '--from <position>',
      'start, now, an added id, or a time: the first cell that comes (default: start; now with -f)',
    )
    .addOption(repeatableFlag('-c, --column <name>', 'only cells of this column; repeatable'))
    .addOption(limitFlag('cells'))
    .option('--offsets <file>', 'continue after the offsets in this file, and update it: see below')
    .addOption(readFlag())
    .examples(
      ['schemaless tail -f', 'new cells of all shards'],
      ['schemaless tail -f -c BASE | jq .body.city', 'of one column'],
      ['schemaless tail 233 --from 1000 -n 10', 'ten cells of a shard, the first of added id 1000'],
      ['schemaless tail --from 2026-01-31T08:00:00Z', 'since a time, to the ends of the logs'],
      ['schemaless tail -f --from start --offsets copied.json >> copy.ndjson', 'a copy that can be resumed'],
    )
    .notes(`Within a shard cells come in order, without gaps. The command writes --offsets after it prints: after a kill the last cells
may come again, and none is missing. Shards that are not in the file begin at --from.`)
    .run<[shards: readonly number[] | undefined], TailFlags>(runTail);
}

async function runTail(
  session: Session,
  [wanted = []]: [readonly number[] | undefined],
  flags: TailFlags,
): Promise<Ending> {
  const follow = flags.follow === true;
  const from = readStart(flags.from ?? (follow ? 'now' : 'start'));
  const signal = untilStopped();
  if (follow) exitWithReader();
  const client = await session.connect({ signal, retryBudget: false });
  const offsets = openOffsets(flags.offsets, client.name);
  const pages = followLogs(client, {
    locations: await startOf(client, { wanted, from, known: offsets.known }),
    follow,
    read: flags.read,
    signal,
    trouble(what, error) {
      const name = what === 'all' ? 'the API' : `shard ${what}`;
      session.note(error ? `${name} does not answer, retrying: ${error.message}` : `${name} answers again`);
    },
  });
  try {
    await session.output.list(printed(pages, flags, offsets), COLUMNS);
  } finally {
    offsets.save();
  }
  return signal.aborted && !follow ? 'interrupted' : 'ok';
}

/** An erasure of a row covers all columns. */
function isOf(columns: readonly string[], { column_name, erasure }: Cell): boolean {
  return columns.includes(column_name) || erasure?.scope === 'row';
}

/** Yields the matching cells. A page is done once the next one is requested, which means that it was printed. */
async function* printed(
  pages: AsyncIterable<LogPage>,
  { column, limit = Number.POSITIVE_INFINITY }: TailFlags,
  offsets: Offsets,
): AsyncGenerator<readonly Cell[]> {
  let left = limit;
  for await (const { shard, cells, next } of pages) {
    const wanted = column === undefined ? cells : cells.filter((cell) => isOf(column, cell));
    const some = wanted.slice(0, left);
    left -= some.length;
    if (some.length > 0) yield some;
    const last = some.at(-1);
    offsets.done(shard, left === 0 && last ? last.added_id : next);
    if (left === 0) return;
  }
}

/** The start in each log: the first cell is that of the added id, or the first since the time. */
type Start = 'start' | 'now' | { readonly id: number } | { readonly since: string };

const WANTED = 'start, now, an added id, or a time with zone like 2026-01-31T08:00:00Z';

export function readStart(text: string): Start {
  if (text === 'start' || text === 'now') return text;
  if (/^\d{1,16}$/u.test(text) && Number.isSafeInteger(Number(text))) return { id: Number(text) };
  return { since: readTime(text, '--from', WANTED) };
}

/** Returns the start in each requested shard (default all). Throws `unknown_shard`, `unavailable`. */
async function startOf(
  client: Pick<Datastore, 'heads'>,
  { wanted, from, known }: { wanted: readonly number[]; from: Start; known: ReadonlyMap<number, number> },
): Promise<Map<number, Location>> {
  const heads = new Map((await client.heads()).map((head) => [head.shard, head]));
  const shards = wanted.length > 0 ? wanted : [...heads.keys()];
  return new Map(
    shards.map((shard) => {
      const head = heads.get(shard);
      if (head === undefined) {
        const [range, got] = [`0 to ${heads.size - 1}`, String(shard)];
        const message = `shard: wanted ${range}, got ${got}`;
        throw new SchemalessError('unknown_shard', message, { field: 'shard', wanted: range, got });
      }
      const after = known.get(shard);
      if (after !== undefined) return [shard, { shard, after }];
      if (from === 'start') return [shard, { shard, after: 0 }];
      if (from === 'now') {
        if (head.error) throw head.error;
        return [shard, { shard, after: head.head }];
      }
      return [shard, 'id' in from ? { shard, after: Math.max(0, from.id - 1) } : { shard, since: from.since }];
    }),
  );
}

/** The added ids up to which logs were printed, saved to the `--offsets` file if given. */
type Offsets = ReturnType<typeof openOffsets>;

/** Throws a CommandError for another datastore's file. */
function openOffsets(file: string | undefined, datastore: string) {
  const offsets = new Map(file === undefined ? [] : read(file, datastore));
  let [savedAt, changed] = [performance.now(), false];
  const save = (): void => {
    if (changed && file !== undefined) {
      const shards = Object.fromEntries([...offsets].sort(([one], [other]) => one - other));
      writeFileAtomically(file, `${JSON.stringify({ datastore, shards }, undefined, 1)}\n`);
    }
    [savedAt, changed] = [performance.now(), false];
  };
  return {
    known: offsets,
    save,
    /** Records that all cells up to this offset were printed. */
    done(shard: number, offset: number) {
      changed ||= offsets.get(shard) !== offset;
      offsets.set(shard, offset);
      if (performance.now() - savedAt > SAVE_EVERY_MS) save();
    },
  };
}

function read(file: string, datastore: string): ReadonlyMap<number, number> {
  if (!existsSync(file)) return new Map();
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw badUsage('--offsets', 'a file that this command wrote, or none', `${file}, which is not JSON`);
  }
  const { datastore: whose, shards } = Object(value) as { readonly datastore?: unknown; readonly shards?: unknown };
  if (typeof shards !== 'object' || shards === null || typeof whose !== 'string')
    throw badUsage('--offsets', 'a file that this command wrote, or none', `${file}, which has no shards`);
  if (whose !== datastore)
    throw badUsage('--offsets', `offsets of ${datastore}`, `${file}, which has those of ${whose}`);
  return new Map(
    Object.entries(shards).map(([shard, offset]) => {
      if (!/^\d{1,5}$/u.test(shard) || !Number.isSafeInteger(offset) || (offset as number) < 0)
        throw badUsage('--offsets', 'an added id for each shard', `${shard}: ${JSON.stringify(offset)} in ${file}`);
      return [Number(shard), offset as number];
    }),
  );
}

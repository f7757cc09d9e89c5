import type { Command } from 'commander';
import type { Cell, Role } from '../../../shared/cell.ts';
import { CELL_COLUMNS } from '../cell-columns.ts';
import { command } from '../cli.ts';
import type { Ending } from '../exit-codes.ts';
import { limitFlag, readFlag, repeatableFlag, shardNumbers } from '../flags.ts';
import { followLogs, type LogPage } from '../log/follow-logs.ts';
import { openOffsets, type OffsetsFile } from '../log/offsets-file.ts';
import { readStart, startOf } from '../log/start.ts';
import type { Column } from '../output/output.ts';
import { onReaderGone } from '../output/reader-gone.ts';
import type { Session } from '../session.ts';

interface TailFlags {
  readonly follow?: true;
  readonly from?: string;
  readonly column?: readonly string[];
  readonly limit?: number;
  readonly offsets?: string;
  readonly read?: Role;
}

/** Offsets are written so often at most, and at the end. */
const SAVE_EVERY_MS = 200;

const COLUMNS: readonly Column<Cell>[] = [
  { header: 'SHARD', value: ({ shard }) => shard },
  ...['ADDED', 'CREATED', 'ROW KEY', 'COLUMN', 'REF', 'BODY'].flatMap(
    (header) => CELL_COLUMNS.find((column) => column.header === header) ?? [],
  ),
];

export function tail(): Command {
  return command('tail')
    .description('reads the logs of shards: their cells in the order in which they were written')
    .argument('[shard...]', 'their numbers (default: all shards)', shardNumbers)
    .option('-f, --follow', 'go on at the ends of the logs, until Ctrl-C')
    .option(
      '--from <place>',
      'start, now, an added id, or a time: the first cell that comes (default: start; now with -f)',
    )
    .addOption(repeatableFlag('-c, --column <name>', 'cells of this column alone; repeatable'))
    .addOption(limitFlag('cells'))
    .option('--offsets <file>', 'goes on behind what the file says was read, and keeps it: see below')
    .addOption(readFlag())
    .examples(
      ['schemaless tail -f', 'what is written from now on, in all shards'],
      ['schemaless tail -f -c BASE | jq .body.city', 'of one column'],
      ['schemaless tail 233 --from 1000 -n 10', 'ten cells of a shard, the first of added id 1000'],
      ['schemaless tail --from 2026-01-31T08:00:00Z', 'since a time, to the ends of the logs'],
      ['schemaless tail -f --from start --offsets copied.json >> copy.ndjson', 'a copy that can be resumed'],
    )
    .notes(`Within a shard cells come in order and none is left out. --offsets is written behind what was printed: where the command
was killed, the last cells may come again, and none is missing. Shards that are not in the file begin at --from.`)
    .run<[shards: readonly number[] | undefined], TailFlags>(runTail);
}

async function runTail(
  session: Session,
  [wanted = []]: [readonly number[] | undefined],
  flags: TailFlags,
): Promise<Ending> {
  const follow = flags.follow === true;
  const from = readStart(flags.from ?? (follow ? 'now' : 'start'));
  const ended = new AbortController();
  const end = (): void => ended.abort();
  process.once('SIGINT', end).once('SIGTERM', end);
  if (follow) onReaderGone(() => process.exit(0));
  const client = await session.connect({ signal: ended.signal, retryBudget: false });
  const file = flags.offsets === undefined ? undefined : openOffsets(flags.offsets, client.name);
  const locations = await startOf(client, { wanted, from, known: file?.offsets ?? new Map() });
  const pages = followLogs(client, {
    locations,
    follow,
    read: flags.read,
    signal: ended.signal,
    trouble(what, error) {
      const name = what === 'all' ? 'the API' : `shard ${what}`;
      session.note(error ? `${name} does not answer, and is asked again: ${error.message}` : `${name} answers again`);
    },
  });
  const kept = keeper(file);
  try {
    await session.output.list(printed(untilEnded(pages, ended.signal), flags, kept), COLUMNS);
  } finally {
    kept.save();
  }
  return ended.signal.aborted && !follow ? 'interrupted' : 'ok';
}

/** What a signal cut off is no error. */
async function* untilEnded(pages: AsyncIterable<LogPage>, signal: AbortSignal): AsyncGenerator<LogPage> {
  try {
    yield* pages;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

interface Keeper {
  /** Everything up to there was printed. */
  done(shard: number, offset: number): void;
  save(): void;
}

function keeper(file: OffsetsFile | undefined): Keeper {
  const offsets = new Map(file?.offsets);
  let [savedAt, changed] = [performance.now(), false];
  const save = (): void => {
    if (changed) file?.save(offsets);
    [savedAt, changed] = [performance.now(), false];
  };
  return {
    save,
    done(shard, offset) {
      changed ||= offsets.get(shard) !== offset;
      offsets.set(shard, offset);
      if (performance.now() - savedAt > SAVE_EVERY_MS) save();
    },
  };
}

/** An erasure of a row covers all columns. */
function isOf(columns: readonly string[], { column_name, erasure }: Cell): boolean {
  return columns.includes(column_name) || erasure?.scope === 'row';
}

/** Cells that are wanted; a page counts as done once the next one is asked for, which is when it was printed. */
async function* printed(
  pages: AsyncIterable<LogPage>,
  { column, limit = Number.POSITIVE_INFINITY }: TailFlags,
  kept: Keeper,
): AsyncGenerator<readonly Cell[]> {
  let left = limit;
  for await (const { shard, cells, next } of pages) {
    const wanted = column === undefined ? cells : cells.filter((cell) => isOf(column, cell));
    const some = wanted.slice(0, left);
    left -= some.length;
    if (some.length > 0) yield some;
    const last = some.at(-1);
    kept.done(shard, left === 0 && last ? last.added_id : next);
    if (left === 0) return;
  }
}

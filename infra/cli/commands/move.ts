import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { MOST_SECONDS, type MoveOperations, type MoveStatus } from '../../../shared/api/moves.ts';
import { command, commandGroup } from '../cli.ts';
import type { Ending } from '../errors.ts';
import { timeOf } from '../files/progress.ts';
import { wholeNumber, wholeNumberFlag } from '../flags.ts';
import { exitWithReader, untilStopped, type Column } from '../output/output.ts';
import type { Session } from '../session.ts';

const POLL_MS = 1000;

export function move(): Command {
  return commandGroup('move', 'move shards to other groups, while they are read and written', [
    create(),
    list(),
    status(),
    step('switch', 'make the copy the shard, as soon as it is complete'),
    step('reverse', 'return the shard to its group before the last switch'),
    step('complete', 'drop the old copy of a moved shard, which makes the move irreversible'),
    step('cancel', 'cancel a move before the shard has moved, and drop its copy'),
    step('verify', 'compare the whole copy with the shard again'),
  ]);
}

interface CreateFlags {
  readonly to: string;
  readonly switch?: true;
  /** Seconds. */
  readonly completeAfter?: number;
}

function create(): Command {
  return command('create')
    .description('start a copy of a shard on another group, which follows its log')
    .argument('<shard>', 'its number', shardNumber)
    .requiredOption('--to <group>', 'the new group of the shard')
    .option('--switch', 'make the copy the shard once it is complete')
    .addOption(wholeNumberFlag('--complete-after <seconds>', 'drop the old copy after this time', 0, MOST_SECONDS))
    .examples(
      ['schemaless move create 233 --to group-4', 'copies, compares and follows; `move switch 233` moves it'],
      ['schemaless move create 233 --to group-4 --switch', 'moves it automatically, and stays reversible'],
      ['schemaless move create 233 --to group-4 --switch --complete-after 86400', 'drops the old copy a day later'],
    )
    .notes(`A repeated command with the same group shows the running move.`)
    .prints<[shard: number], CreateFlags>(async (api, [shard], { to, switch: switches, completeAfter }) =>
      shown(await api.createMove({ shard, to, switch: switches, complete_after_seconds: completeAfter })),
    );
}

function list(): Command {
  return command('list')
    .description('list the running moves')
    .examples(['schemaless move list', 'progress, speed, and what each waits for'])
    .run<[]>(async ({ output, api }) => {
      await output.list<ShownMove>([(await (await api()).listMoves()).moves.map(shown)], COLUMNS);
    });
}

function status(): Command {
  return command('status')
    .description('show the move of a shard, or the last one that ended')
    .argument('<shard>', 'its number', shardNumber)
    .option('--watch', 'continue until it has nothing left to do, or Ctrl-C')
    .examples(
      ['schemaless move status 233', 'all that is known of it'],
      ['schemaless move status 233 --watch', 'a line each second in which something changed'],
      ['schemaless move status 233 --watch && schemaless move switch 233', 'switches once the copy is complete'],
    )
    .notes(`--watch ends once the copy has, compared, all cells that the shard had at the start, and the requested step is done; or
once the move is over.`)
    .run<[shard: number], { readonly watch?: true }>(async (session, [shard], flags) => {
      if (flags.watch === true) return watch(session, shard);
      return session.output.record(shown(await (await session.api()).getMove({ shard })));
    });
}

function step(name: 'switch' | 'reverse' | 'complete' | 'cancel' | 'verify', description: string): Command {
  return command(name)
    .description(description)
    .argument('<shard>', 'its number', shardNumber)
    .examples([`schemaless move ${name} 233`, '`move status 233 --watch` shows when it is done'])
    .prints<[shard: number]>(async (api, [shard]) => shown(await api[`${name}Move`]({ shard })));
}

async function watch(session: Session, shard: number): Promise<Ending> {
  const signal = untilStopped();
  exitWithReader();
  const moves = await session.api({ signal });
  await session.output.list(polls(session, moves, shard, signal), COLUMNS);
  return signal.aborted ? 'interrupted' : 'ok';
}

/** Polls a move, and yields only changed states. */
async function* polls(
  session: Session,
  moves: Pick<MoveOperations, 'getMove'>,
  shard: number,
  signal: AbortSignal,
): AsyncGenerator<readonly ShownMove[]> {
  let first: MoveStatus | undefined;
  let [text, trouble] = ['', null as string | null];
  try {
    for (;;) {
      const now = await moves.getMove({ shard });
      first ??= now;
      const changed = JSON.stringify(now);
      if (changed !== text) yield [shown(now)];
      // The table on a terminal has no room for it.
      if (now.last_error !== trouble && now.last_error !== null)
        session.note(`failed, will be retried: ${now.last_error}`);
      [text, trouble] = [changed, now.last_error];
      if (hasNothingToDo(now, first)) return;
      await wait(POLL_MS, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** @param first the state when watching began */
function hasNothingToDo(now: MoveStatus, first: MoveStatus): boolean {
  if (now.step === 'completed' || now.step === 'cancelled') return true;
  return now.step === 'following' && now.wanted === null && now.compared >= first.head;
}

type ShownMove = MoveStatus & { readonly percent: number };

/** Shows 100 % only once the copy has all known cells of the shard, and none for a move that waits to start. */
function shown(status: MoveStatus): ShownMove {
  const { step, copied, head } = status;
  if (step === 'waiting') return { ...status, percent: 0 };
  return { ...status, percent: head === 0 ? 100 : Math.min(100, Math.floor((1000 * copied) / head) / 10) };
}

function shardNumber(value: string): number {
  return wholeNumber(value, 0, 65_535);
}

/** Fixed widths, since `--watch` prints row after row. */
const COLUMNS: readonly Column<ShownMove>[] = [
  { header: 'SHARD', value: ({ shard }) => shard },
  { header: 'FROM', value: ({ from }) => from, width: 8 },
  { header: 'TO', value: ({ to }) => to, width: 8 },
  { header: 'STEP', value: ({ step }) => step, width: 9 },
  { header: 'WANTED', value: ({ wanted }) => wanted },
  { header: 'COPIED', value: ({ percent }) => `${percent} %` },
  { header: 'BEHIND', value: ({ head, copied }) => `${Math.max(0, head - copied)} cells`, width: 12 },
  { header: 'RATE', value: ({ bytes_per_second }) => `${(bytes_per_second / 1e6).toFixed(1)} MB/s`, width: 10 },
  {
    header: 'LEFT',
    value: ({ eta_seconds }) => (eta_seconds === null ? null : timeOf(Math.round(eta_seconds))),
    width: 11,
  },
  { header: 'SWITCHES', value: ({ switches }) => switches, wide: true },
  { header: 'COMPARED', value: ({ compared }) => compared, wide: true },
  { header: 'RESTARTS', value: ({ restarts }) => restarts, wide: true },
  { header: 'LAST ERROR', value: ({ last_error }) => last_error },
];

import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { MOST_SECONDS, type MoveOperations, type MoveStatus } from '../../../shared/api/moves.ts';
import { command, commandGroup } from '../cli.ts';
import type { Ending } from '../errors.ts';
import { timeOf } from '../files/progress.ts';
import { wholeNumber, wholeNumberFlag } from '../flags.ts';
import { exitWithReader, untilStopped, type Column } from '../output/output.ts';
import type { Session } from '../session.ts';

const LOOK_MS = 1000;

export function move(): Command {
  return commandGroup('move', 'moves shards to other groups, while they are read and written', [
    create(),
    list(),
    status(),
    step('switch', 'makes the copy the shard, as soon as it has all of it', 'switchMove'),
    step('reverse', 'makes the shard again what it was before the last switch', 'reverseMove'),
    step('complete', 'drops what a moved shard has left behind: there is no way back then', 'completeMove'),
    step('cancel', 'gives up a move before the shard has moved, and drops its copy', 'cancelMove'),
    step('verify', 'compares the whole copy with the shard once more', 'verifyMove'),
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
    .description('begins a copy of a shard on another group, which follows its log')
    .argument('<shard>', 'its number', shardNumber)
    .requiredOption('--to <group>', 'where it is to be')
    .option('--switch', 'once the copy has all of it, make it the shard')
    .addOption(wholeNumberFlag('--complete-after <seconds>', 'after that, drop what is left behind', 0, MOST_SECONDS))
    .examples(
      ['schemaless move create 233 --to group-4', 'copies, compares and follows; `move switch 233` moves it'],
      ['schemaless move create 233 --to group-4 --switch', 'moves it by itself, and keeps the way back open'],
      [
        'schemaless move create 233 --to group-4 --switch --complete-after 86400',
        'drops what is left behind a day later',
      ],
    )
    .notes(`Given again with the same group, it shows the move that is under way.`)
    .run<[shard: number], CreateFlags>(async ({ output, api }, [shard], flags) => {
      const { to, switch: switches, completeAfter: complete_after_seconds } = flags;
      const moves = await api();
      await output.record(shown(await moves.createMove({ shard, to, switch: switches, complete_after_seconds })));
    });
}

function list(): Command {
  return command('list')
    .description('lists the moves that are under way')
    .examples(['schemaless move list', 'how far each is, how fast, and what it waits for'])
    .run<[]>(async ({ output, api }) => {
      await output.list<ShownMove>([(await (await api()).listMoves()).moves.map(shown)], COLUMNS);
    });
}

function status(): Command {
  return command('status')
    .description('shows the move of a shard, or the last one that ended')
    .argument('<shard>', 'its number', shardNumber)
    .option('--watch', 'go on until it has nothing left to do, or Ctrl-C')
    .examples(
      ['schemaless move status 233', 'all that is known of it'],
      ['schemaless move status 233 --watch', 'a line each second in which something changed'],
      ['schemaless move status 233 --watch && schemaless move switch 233', 'switches once the copy has all of it'],
    )
    .notes(`--watch ends once the copy has, compared, all that the shard had when it began, and what was asked for is done; or once
the move is over.`)
    .run<[shard: number], { readonly watch?: true }>(async (session, [shard], flags) => {
      if (flags.watch === true) return watch(session, shard);
      return session.output.record(shown(await (await session.api()).getMove({ shard })));
    });
}

function step(
  name: string,
  description: string,
  operation: 'switchMove' | 'reverseMove' | 'completeMove' | 'cancelMove' | 'verifyMove',
): Command {
  return command(name)
    .description(description)
    .argument('<shard>', 'its number', shardNumber)
    .examples([`schemaless move ${name} 233`, '`move status 233 --watch` shows when it is done'])
    .run<[shard: number]>(async ({ output, api }, [shard]) =>
      output.record(shown(await (await api())[operation]({ shard }))),
    );
}

async function watch(session: Session, shard: number): Promise<Ending> {
  const signal = untilStopped();
  exitWithReader();
  const moves = await session.api({ signal });
  await session.output.list(looks(session, moves, shard, signal), COLUMNS);
  return signal.aborted ? 'interrupted' : 'ok';
}

/** One look after another, those alone that show something else than the one before. */
async function* looks(
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
      // On a terminal the table has no room for it.
      if (now.last_error !== trouble && now.last_error !== null) session.note(`it stumbles: ${now.last_error}`);
      [text, trouble] = [changed, now.last_error];
      if (hasNothingToDo(now, first)) return;
      await wait(LOOK_MS, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** @param first what was seen when watching began */
function hasNothingToDo(now: MoveStatus, first: MoveStatus): boolean {
  if (now.step === 'completed' || now.step === 'cancelled') return true;
  return now.step === 'following' && now.wanted === null && now.compared >= first.head;
}

type ShownMove = MoveStatus & { readonly percent: number };

/** 100 only once the copy has all that the shard was seen to have; of one that waits nobody has looked yet. */
function shown(status: MoveStatus): ShownMove {
  const { step, copied, head } = status;
  if (step === 'waiting') return { ...status, percent: 0 };
  return { ...status, percent: head === 0 ? 100 : Math.min(100, Math.floor((1000 * copied) / head) / 10) };
}

function shardNumber(value: string): number {
  return wholeNumber(value, 0, 65_535);
}

/** As wide as their values become as a rule: of a move that is watched, row comes after row. */
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

import type { Command } from 'commander';
import type {
  CellLocation,
  DeadMessageShown,
  MalformedMessage,
  ParkedCell,
  ParkedChoice,
  ParkedPage,
} from '../../../shared/api/trigger-shapes.ts';
import { command, commandGroup } from '../cli.ts';
import { badUsage, type Ending } from '../errors.ts';
import { limitFlag } from '../flags.ts';
import type { Column } from '../output/output.ts';
import { pagesOf } from '../pages.ts';
import type { Session } from '../session.ts';

interface ChoiceFlags {
  readonly all?: true;
  readonly dead?: true;
  readonly yes?: true;
}

/** The most messages of a dead-letter queue that one request can show. */
const MOST_DEAD = 1000;

const DEAD = 'the messages of the dead-letter queue instead, on which SQS gave up';

export function parked(): Command {
  return commandGroup('parked', 'list, retry or discard cells for which a trigger failed too often', [
    list(),
    retry(),
    discard(),
  ]);
}

function list(): Command {
  return command('list')
    .description('list the parked cells of a trigger, and messages that could not be read')
    .argument('<trigger>', 'its name')
    .option('--dead', DEAD)
    .addOption(limitFlag('of them'))
    .examples(
      ['schemaless parked list bill_rider', 'with their last errors'],
      ['schemaless parked list bill_rider --dead', 'what SQS gave up on'],
    )
    .run<[name: string], { readonly dead?: true; readonly limit?: number }>(
      async ({ output, api, note }, [trigger], flags) => {
        const client = await api();
        if (flags.dead === true) {
          const limit = flags.limit ?? MOST_DEAD;
          const { messages } = await client.listDeadMessages({ trigger, limit: Math.min(limit, MOST_DEAD) });
          const ending = await output.list<DeadMessageShown>([messages], DEAD_COLUMNS);
          // A queue has no pages: the next messages are visible once these are gone.
          if (messages.length === MOST_DEAD && limit > MOST_DEAD)
            note(`the queue may have more than these ${MOST_DEAD}: retry or discard them to see the others`);
          return ending;
        }
        const itemsOf = ({ cells, malformed }: ParkedPage) => [...cells, ...malformed];
        return output.list(pagesOf(client.listParkedCells, { trigger }, itemsOf, flags.limit), COLUMNS);
      },
    );
}

function retry(): Command {
  return command('retry')
    .description('send parked cells again soon')
    .argument('<trigger>', 'its name')
    .argument('[position...]', 'SHARD:ADDED_ID of each')
    .option('--all', 'all parked cells')
    .option('--dead', DEAD)
    .examples(
      ['schemaless parked retry bill_rider 3:120 17:9', 'two cells'],
      ['schemaless parked retry bill_rider --all', 'all of them'],
      ['schemaless parked retry bill_rider --dead', 'the cells of what SQS gave up on'],
    )
    .run<[name: string, locations: readonly string[]], ChoiceFlags>(async (session, [trigger, locations], flags) => {
      const choice = readChoice(locations, flags);
      const api = await session.api();
      if (choice === 'dead') return emptied(session, 'replayed', () => api.replayDeadMessages({ trigger }));
      return changed(session, await api.retryParkedCells({ trigger, cells: choice }));
    });
}

function discard(): Command {
  return command('discard')
    .description('discard parked cells permanently: the trigger is not called for them any more')
    .argument('<trigger>', 'its name')
    .argument('[position...]', 'SHARD:ADDED_ID of each')
    .option('--all', 'all parked cells, and the messages that could not be read')
    .option('--dead', DEAD)
    .option('--yes', 'without asking')
    .examples(
      ['schemaless parked discard bill_rider 3:120', 'one cell'],
      ['schemaless parked discard bill_rider --all --yes', 'all of them, without confirmation'],
    )
    .run<[name: string, locations: readonly string[]], ChoiceFlags>(async (session, [trigger, locations], flags) => {
      const choice = readChoice(locations, flags);
      const isAll = choice === '*' || choice === 'dead';
      const what = choice === 'dead' ? 'what SQS gave up on' : 'all parked cells';
      const question = `Forget ${what} of ${trigger} for good?`;
      if (isAll && !(await session.confirmed(question, flags.yes, 'nothing was discarded'))) return undefined;
      const api = await session.api();
      if (choice === 'dead') return emptied(session, 'discarded', () => api.discardDeadMessages({ trigger }));
      return changed(session, await api.discardParkedCells({ trigger, cells: choice }));
    });
}

function readChoice(locations: readonly string[], { all, dead }: ChoiceFlags): ParkedChoice | 'dead' {
  const specified = [locations.length > 0, all === true, dead === true].filter(Boolean).length;
  if (specified !== 1)
    throw badUsage(
      'position',
      'SHARD:ADDED_ID of each cell, or --all, or --dead',
      specified === 0 ? 'none' : 'more than one',
    );
  if (dead === true) return 'dead';
  if (all === true) return '*';
  return locations.map((text) => {
    const [, shard, id] = /^(\d{1,5})[:/](\d{1,16})$/u.exec(text) ?? [];
    if (shard === undefined)
      throw badUsage('position', 'SHARD:ADDED_ID, like 3:120', JSON.stringify(text.slice(0, 60)));
    return { shard: Number(shard), added_id: Number(id) };
  });
}

async function changed(
  { output, note }: Session,
  answer: { readonly not_parked: readonly CellLocation[] },
): Promise<Ending> {
  const { not_parked } = answer;
  await output.record(answer);
  if (not_parked.length === 0) return 'ok';
  note(`not parked: ${not_parked.map(({ shard, added_id }) => `${shard}:${added_id}`).join(', ')}`);
  return 'notFound';
}

/** Repeats requests: each removes only as many messages as it has time for. */
async function emptied<What extends string>(
  { output }: Session,
  what: What,
  ask: () => Promise<Readonly<Record<What | 'left', number>>>,
): Promise<Ending> {
  let [sum, left] = [0, 0];
  for (;;) {
    const answer = await ask();
    sum += answer[what];
    ({ left } = answer);
    if (left === 0 || answer[what] === 0) break;
  }
  await output.record({ [what]: sum, left });
  return left === 0 ? 'ok' : 'unavailable';
}

const COLUMNS: readonly Column<ParkedCell | MalformedMessage>[] = [
  { header: 'POSITION', value: (one) => ('shard' in one ? `${one.shard}:${one.added_id}` : one.message_id) },
  { header: 'ROW KEY', value: (one) => ('shard' in one ? one.row_key : null) },
  { header: 'COLUMN', value: (one) => ('shard' in one ? one.column_name : null) },
  { header: 'REF', value: (one) => ('shard' in one ? one.ref_key : null) },
  { header: 'ATTEMPTS', value: (one) => ('shard' in one ? one.attempts : null) },
  { header: 'PARKED', value: ({ parked_at }) => parked_at },
  { header: 'RETRY', value: (one) => ('shard' in one ? one.retry : null), wide: true },
  { header: 'LAST ERROR', value: (one) => ('shard' in one ? one.last_error : one.error) },
];

const DEAD_COLUMNS: readonly Column<DeadMessageShown>[] = [
  { header: 'MESSAGE', value: ({ message_id }) => message_id },
  { header: 'SENT', value: ({ sent_at }) => sent_at },
  { header: 'POSITION', value: ({ cell }) => cell && `${cell.shard}:${cell.added_id}` },
  { header: 'ROW KEY', value: ({ cell }) => cell?.row_key },
  { header: 'RESENT', value: ({ resent }) => resent },
  { header: 'BODY', value: ({ body }) => body },
];

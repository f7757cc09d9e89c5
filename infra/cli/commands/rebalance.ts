import { Option, type Command } from 'commander';
import { MOST_SECONDS } from '../../../shared/api/moves.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { planMoves, type PlannedMove } from '../../../shared/moves/plan-moves.ts';
import { placedShards, rebalance as runRebalance } from '../../../shared/moves/rebalance.ts';
import { command } from '../cli.ts';
import { badUsage } from '../command-error.ts';
import { confirmed } from '../confirm.ts';
import type { Ending } from '../exit-codes.ts';
import { untilInterrupted } from '../files/interrupt.ts';
import { repeatableFlag, wholeNumberFlag } from '../flags.ts';
import type { Session } from '../session.ts';

interface PlanFlags {
  readonly retire?: readonly string[];
}

interface RunFlags extends PlanFlags {
  readonly yes?: true;
  /** Seconds. */
  readonly completeAfter: number;
}

export function plan(): Command {
  return command('plan')
    .description('prints the moves after which each group holds equally many shards; changes nothing')
    .addOption(retireFlag())
    .examples(
      ['schemaless shards plan', 'what rebalance would do'],
      ['schemaless shards plan --retire group-3', 'which shards would leave a group'],
    )
    .run<[], PlanFlags>(async (session, _none, flags) => {
      await session.output.list<PlannedMove>(
        [await makePlan(session, flags)],
        [
          { header: 'SHARD', value: ({ shard }) => shard },
          { header: 'FROM', value: ({ from }) => from },
          { header: 'TO', value: ({ to }) => to },
        ],
      );
    });
}

export function rebalance(): Command {
  return command('rebalance')
    .description('moves shards until each group holds equally many')
    .addOption(retireFlag())
    .addOption(new Option('--yes', 'without asking'))
    .addOption(
      wholeNumberFlag(
        '--complete-after <seconds>',
        'after which what a moved shard has left behind is dropped',
        0,
        MOST_SECONDS,
      ).default(3600, 'an hour'),
    )
    .examples(
      ['schemaless rebalance', 'moves shards to a new group, after it asked'],
      ['schemaless rebalance --retire group-3', 'empties a group, which stays'],
    )
    .notes(`It moves one datastore, that of --datastore. A group copies one shard at a time, and each move switches by itself. Ctrl-C
ends the command alone: moves that were begun go on, and the same command continues. It ends with 5 if a shard was not
moved.`)
    .run<[], RunFlags>(async (session, _none, flags) => run(session, flags));
}

function retireFlag(): Option {
  return repeatableFlag('--retire <group>', 'is to hold no shards; repeatable');
}

async function makePlan(session: Session, { retire }: PlanFlags): Promise<readonly PlannedMove[]> {
  const [client, api] = [await session.connect(), await session.api()];
  // Every group has a buffer, also one without shards.
  const groups = (await api.getBuffer()).groups.map(({ group }) => group);
  const shards = await placedShards(api, await client.heads());
  try {
    return planMoves(shards, groups, retire);
  } catch (error) {
    if (!(error instanceof SchemalessError)) throw error;
    const { wanted = '', got = '' } = error.details;
    throw badUsage('--retire', wanted, got);
  }
}

async function run(session: Session, flags: RunFlags): Promise<Ending> {
  const moves = await makePlan(session, flags);
  session.note(moves.length === 0 ? 'nothing to move' : `${moves.length} shards to move`);
  if (moves.length > 0 && !(await confirmed('Move them?', flags.yes === true))) {
    session.note('nothing was moved');
    return 'ok';
  }
  const interrupt = untilInterrupted();
  try {
    const report = await runRebalance(await session.api({ signal: interrupt.afterwards }), moves, {
      completeAfterSeconds: flags.completeAfter,
      signal: interrupt.signal,
      report: (shard, what) => session.note(`shard ${shard}: ${what}`),
    });
    await session.output.record(report);
    if (!report.complete) return 'interrupted';
    return report.not_moved.length > 0 ? 'unavailable' : 'ok';
  } finally {
    interrupt.end();
  }
}

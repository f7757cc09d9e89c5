import { Command, Option } from 'commander';
import { MOST_SECONDS } from '../../../shared/api/move-schemas.ts';
import type { ShardPlan } from '../../../shared/moves/plan-anew.ts';
import { runPlan, type PlanReport } from '../../../shared/moves/run-plan.ts';
import { action, examples } from '../cli.ts';
import { confirmed } from '../confirm.ts';
import type { Ending } from '../exit-codes.ts';
import { untilInterrupted } from '../files/interrupt.ts';
import { wholeNumberFlag } from '../flags.ts';
import type { Session } from '../session.ts';
import { makePlan, planFlags, retireFlag, type PlanFlags } from '../shard-plan/make-plan.ts';
import { planLines, printPlan } from '../shard-plan/print-plan.ts';
import { showMoves } from '../shard-plan/show-moves.ts';

interface RunFlags extends PlanFlags {
  readonly dryRun?: true;
  readonly yes?: true;
  /** Seconds. */
  readonly completeAfter: number;
}

/** `schemaless rebalance`: moves shards until each group holds its part. */
export function rebalance(): Command {
  const command = new Command('rebalance')
    .description('moves shards between groups, until each holds its part')
    .addOption(retireFlag());
  for (const flag of runFlags()) command.addOption(flag);
  return command
    .addHelpText(
      'after',
      `${examples(
        ['schemaless rebalance --dry-run', 'what it would do, as shards plan'],
        ['schemaless rebalance', 'does it, once somebody says yes'],
        ['schemaless rebalance --complete-after 86400', 'and leaves a day for the way back'],
      )}
${OF_RUNS}`,
    )
    .action(action<[], RunFlags>(async (session, _none, flags) => run(session, flags)));
}

/** `schemaless drain-group`: the same, with one group that is to hold nothing. */
export function drainGroup(): Command {
  const command = new Command('drain-group')
    .description('moves all shards of a datastore away from a group, which stays')
    .argument('<group>', 'its name');
  for (const flag of runFlags()) command.addOption(flag);
  return command
    .addHelpText(
      'after',
      `${examples(
        ['schemaless drain-group group-3 --dry-run', 'where its shards would go'],
        ['schemaless drain-group group-3', 'moves them'],
      )}
${OF_RUNS}`,
    )
    .action(
      action<[group: string], RunFlags>(async (session, [group], flags) => run(session, { ...flags, retire: [group] })),
    );
}

const OF_RUNS = `
One datastore is moved, that of --datastore; repeat it for each. Each group copies one shard at a time, and each move
switches by itself. Ctrl-C ends the command alone: what was begun goes on, and the same command plans anew from where
everything is by then. A copy of each shard stays where it was, for the way back, until --complete-after. Ends with 5
where a shard was not moved.`;

function runFlags(): readonly Option[] {
  return [
    ...planFlags(),
    new Option('--dry-run', 'say what it would do, and change nothing'),
    new Option('--yes', 'without asking'),
    wholeNumberFlag(
      '--complete-after <seconds>',
      'after which what a moved shard has left behind is dropped',
      0,
      MOST_SECONDS,
    ).default(3600, 'an hour'),
  ];
}

async function run(session: Session, flags: RunFlags): Promise<Ending> {
  const plan = await makePlan(session, await session.moves(), flags);
  if (flags.dryRun === true) {
    await printPlan(session, plan);
    return 'ok';
  }
  for (const line of planLines(plan)) session.note(line);
  if (plan.moves.length > 0 && !(await confirmed(questionOf(plan), flags.yes === true))) {
    session.note('nothing was moved');
    return 'ok';
  }
  const report = await runMoves(session, plan, flags);
  await session.output.record(report);
  if (!report.complete) return 'interrupted';
  return report.not_moved.length > 0 ? 'unavailable' : 'ok';
}

function questionOf({ moves }: ShardPlan): string {
  return `Move ${moves.length === 1 ? 'this shard' : `these ${moves.length} shards`}?`;
}

async function runMoves(session: Session, { moves }: ShardPlan, flags: RunFlags): Promise<PlanReport> {
  const interrupt = untilInterrupted();
  const shown = await showMoves(process.stderr);
  try {
    return await runPlan(await session.moves({ signal: interrupt.afterwards }), moves, {
      completeAfterSeconds: flags.completeAfter,
      signal: interrupt.signal,
      tell: (progress) => shown.tell(progress),
      trouble: (shard, message) => session.note(`shard ${shard}: ${message}`),
    });
  } finally {
    shown.stop();
    interrupt.end();
  }
}

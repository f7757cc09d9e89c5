import { Command } from 'commander';
import { action, examples } from '../cli.ts';
import { makePlan, planFlags, retireFlag, type PlanFlags } from '../shard-plan/make-plan.ts';
import { printPlan } from '../shard-plan/print-plan.ts';

/** `schemaless shards plan`: says which shards should be elsewhere, and changes nothing. */
export function plan(): Command {
  const command = new Command('plan')
    .description('says which shards should be on another group, so that each holds its part; changes nothing')
    .addOption(retireFlag());
  for (const flag of planFlags()) command.addOption(flag);
  return command
    .addHelpText(
      'after',
      `${examples(
        ['schemaless shards plan', 'what rebalance would do'],
        ['schemaless shards plan --retire group-3', 'what drain-group group-3 would do'],
        ['schemaless shards plan --weight group-4=2', 'a group that is twice as large as the others'],
        ["schemaless shards plan --format json | jq 'map(.bytes) | add'", 'bytes to move'],
      )}

Bytes are what the engines estimate. Moves under way count where they go, and shards that moved lately stay, unless
their group is to be emptied.`,
    )
    .action(
      action<[], PlanFlags>(async (session, _none, flags) => {
        await printPlan(session, await makePlan(session, await session.moves(), flags));
      }),
    );
}

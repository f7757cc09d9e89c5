import { Option, type Command } from 'commander';
import { shardDatabase } from '../../../shared/address.ts';
import { MOST_SECONDS } from '../../../shared/api/moves.ts';
import type { ShardHead } from '../../../shared/contract/datastore.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import {
  placedShards,
  planMoves,
  rebalance as runRebalance,
  type PlannedMove,
} from '../../../shared/moves/rebalance.ts';
import { command, commandGroup } from '../cli.ts';
import { badUsage, type Ending } from '../errors.ts';
import { readFlag, repeatableFlag, wholeNumberFlag } from '../flags.ts';
import type { Session } from '../session.ts';

export function shards(): Command {
  return commandGroup('shards', 'list the shards, and plan a rebalancing', [])
    .addCommand(list(), { isDefault: true })
    .addCommand(plan());
}

function list(): Command {
  return command('list')
    .description('list the shards: group, database, and the last added id')
    .option('-g, --group <name>', 'those of one group')
    .addOption(readFlag())
    .examples(
      ['schemaless shards', 'all of them'],
      ['schemaless shards --group group-2', 'of a group'],
      ["schemaless shards | jq -s 'map(.head) | add'", 'cells in all'],
    )
    .run<[], { readonly group?: string; readonly read?: 'writer' | 'reader' }>(async (session, _none, flags) => {
      const client = await session.connect();
      const heads = await client.heads({ read: flags.read });
      const wanted = heads.filter(({ group }) => flags.group === undefined || group === flags.group);
      const rows = wanted.map((head) => ({ ...head, database: shardDatabase(client.name, head.shard) }));
      await session.output.list<ShardHead & { readonly database: string }>(
        [rows],
        [
          { header: 'SHARD', value: ({ shard }) => shard },
          { header: 'GROUP', value: ({ group }) => group },
          { header: 'DATABASE', value: ({ database }) => database },
          { header: 'HEAD', value: (row) => (row.error ? `(${row.error.code}: ${row.error.message})` : row.head) },
        ],
      );
      return rows.some(({ error }) => error !== undefined) ? 'unavailable' : 'ok';
    });
}

interface PlanFlags {
  readonly retire?: readonly string[];
}

interface RunFlags extends PlanFlags {
  readonly yes?: true;
  /** Seconds. */
  readonly completeAfter: number;
}

function plan(): Command {
  return command('plan')
    .description('print the moves after which each group has equally many shards; changes nothing')
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
    .description('move shards until each group has equally many')
    .addOption(retireFlag())
    .addOption(new Option('--yes', 'without asking'))
    .addOption(
      wholeNumberFlag(
        '--complete-after <seconds>',
        'after which the old copy of a moved shard is dropped',
        0,
        MOST_SECONDS,
      ).default(3600, 'an hour'),
    )
    .examples(
      ['schemaless rebalance', 'moves shards to a new group, after confirmation'],
      ['schemaless rebalance --retire group-3', 'empties a group, which stays'],
    )
    .notes(`Moves the shards of one datastore, that of --datastore. A group copies one shard at a time, and each move switches
automatically. Ctrl-C ends only the command: started moves continue, and so does a repeated command. Ends with 5 if a
shard was not moved.`)
    .run<[], RunFlags>(async (session, _none, flags) => run(session, flags));
}

function retireFlag(): Option {
  return repeatableFlag('--retire <group>', 'move all shards away from it; repeatable');
}

async function makePlan(session: Session, { retire }: PlanFlags): Promise<readonly PlannedMove[]> {
  const [client, api] = [await session.connect(), await session.api()];
  // Every group has a buffer, even without shards.
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
  if (moves.length > 0 && !(await session.confirmed('Move them?', flags.yes, 'nothing was moved'))) return 'ok';
  const { signal, afterwards } = session.untilInterrupted();
  const report = await runRebalance(await session.api({ signal: afterwards }), moves, {
    completeAfterSeconds: flags.completeAfter,
    signal,
    report: (shard, what) => session.note(`shard ${shard}: ${what}`),
  });
  await session.output.record(report);
  if (!report.complete) return 'interrupted';
  return report.not_moved.length > 0 ? 'unavailable' : 'ok';
}

import type { Command } from 'commander';
import type { RewindTarget } from '../../../shared/api/rewind-target.ts';
import type { TriggerShard, TriggerSummary, TriggerSwitch } from '../../../shared/api/trigger-shapes.ts';
import { parseTime } from '../../../shared/time.ts';
import { command, commandGroup } from '../cli.ts';
import { badUsage } from '../errors.ts';
import type { Column } from '../output/output.ts';
import { pagesOf } from '../pages.ts';
import type { Session } from '../session.ts';

export function triggers(): Command {
  return commandGroup('triggers', 'lists, halts and sets back triggers', [list(), show(), pause(), resume(), rewind()]);
}

function list(): Command {
  return command('list')
    .description('lists the triggers: state, how far they are behind, parked cells')
    .examples(['schemaless triggers list', 'all triggers of the datastore'])
    .run<[]>(async ({ output, api }) => {
      await output.list<TriggerSummary>([(await (await api()).listTriggers()).triggers], COLUMNS);
    });
}

function show(): Command {
  return command('show')
    .description('shows a trigger')
    .argument('<trigger>', 'its name')
    .option('--shards', 'its shards instead: how far each was sent and consumed')
    .examples(
      ['schemaless triggers show bill_rider', 'its definition, state, lags and last error'],
      ['schemaless triggers show bill_rider --shards | jq "select(.cells > 0)"', 'shards that are behind'],
    )
    .run<[name: string], { readonly shards?: true }>(async ({ output, api }, [trigger], flags) => {
      const client = await api();
      if (flags.shards !== true) {
        const { shards: _shards, next: _next, ...summary } = await client.getTrigger({ trigger, limit: 1 });
        return output.record(summary);
      }
      return output.list(
        pagesOf(client.getTrigger, { trigger }, ({ shards }) => shards),
        SHARD_COLUMNS,
      );
    });
}

function pause(): Command {
  return command('pause')
    .description('halts sending and consuming; messages stay')
    .argument('<trigger>', 'its name')
    .option('--reason <text>', 'which others are shown')
    .examples(['schemaless triggers pause bill_rider --reason "card service is down"', ''])
    .run<[name: string], { readonly reason?: string }>(async (session, [trigger], { reason }) =>
      printSwitch(session, await (await session.api()).pauseTrigger({ trigger, reason })),
    );
}

function resume(): Command {
  return command('resume')
    .description('lets a paused or stopped trigger go on; parked cells stay parked')
    .argument('<trigger>', 'its name')
    .examples(['schemaless triggers resume bill_rider', ''])
    .run<[name: string]>(async (session, [trigger]) =>
      printSwitch(session, await (await session.api()).resumeTrigger({ trigger })),
    );
}

function rewind(): Command {
  return command('rewind')
    .description('sets a trigger to another place in the logs; cells that are sent again are marked as replays')
    .argument('<trigger>', 'its name')
    .option('--dry-run', 'say what it would do, and change nothing')
    .argument('<to...>', 'start, now, a time, or SHARD=ADDED_ID for some shards: it goes on behind that cell')
    .examples(
      ['schemaless triggers rewind bill_rider start', 'all cells again'],
      ['schemaless triggers rewind bill_rider 2026-01-31T08:00:00Z', 'since a time'],
      ['schemaless triggers rewind bill_rider now --dry-run', 'how many cells it would leave out'],
      ['schemaless triggers rewind bill_rider 3=120 17=0', 'two shards'],
    )
    .run<[name: string, to: readonly string[]], { readonly dryRun?: boolean }>(
      async (session, [trigger, to], flags) => {
        const target = readTarget(to);
        const api = await session.api();
        await printSwitch(session, await api.rewindTrigger({ trigger, to: target, dry_run: flags.dryRun }));
      },
    );
}

async function printSwitch({ output }: Session, answer: TriggerSwitch): Promise<void> {
  await output.record(answer);
}

function readTarget(texts: readonly string[]): RewindTarget {
  const [only = '', ...others] = texts;
  if ((only === 'start' || only === 'now') && others.length === 0) return only;
  const shards = texts.map((text) => /^(\d{1,5})=(\d{1,16})$/u.exec(text));
  if (shards.every((matched) => matched !== null))
    return Object.fromEntries(shards.map(([, shard, id]) => [String(Number(shard)), Number(id)]));
  try {
    if (others.length === 0) return parseTime(only, 'to');
  } catch {}
  throw badUsage(
    'to',
    'start, now, a time with zone, or SHARD=ADDED_ID as often as wanted',
    JSON.stringify(texts.join(' ')),
  );
}

const COLUMNS: readonly Column<TriggerSummary>[] = [
  { header: 'TRIGGER', value: ({ trigger }) => trigger },
  { header: 'STATE', value: ({ state }) => state },
  { header: 'COLUMNS', value: ({ columns }) => (columns === '*' ? '*' : columns.join(', ')) },
  { header: 'BEHIND', value: ({ lag }) => `${lag.cells} cells` },
  { header: 'OLDEST', value: ({ lag }) => `${Math.round(lag.seconds)} s` },
  { header: 'WAITING', value: ({ waiting }) => waiting },
  { header: 'FAILING', value: ({ failing }) => failing },
  { header: 'PARKED', value: ({ parked }) => parked },
  { header: 'DEAD', value: ({ dead }) => dead },
  { header: 'FUNCTION', value: (summary) => summary.function, wide: true },
  { header: 'REASON', value: ({ reason }) => reason, wide: true },
  { header: 'LAST ERROR', value: ({ last_error }) => last_error?.error },
];

const SHARD_COLUMNS: readonly Column<TriggerShard>[] = [
  { header: 'SHARD', value: ({ shard }) => shard },
  { header: 'HEAD', value: ({ head }) => head },
  { header: 'SENT', value: ({ offset }) => offset },
  { header: 'CONSUMED', value: ({ consumed }) => consumed },
  { header: 'BEHIND', value: ({ cells }) => cells },
  { header: 'OLDEST', value: ({ seconds }) => (seconds === null ? null : `${Math.round(seconds)} s`) },
  { header: 'FAILING', value: ({ failing }) => failing },
  { header: 'PARKED', value: ({ parked }) => parked },
];

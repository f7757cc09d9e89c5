import type { Command } from 'commander';
import type { RewindTarget } from '../../../shared/api/rewind-target.ts';
import type { TriggerShard, TriggerSummary } from '../../../shared/api/trigger-shapes.ts';
import { ENVIRONMENT_VARIABLES } from '../../../shared/environment.ts';
import { command, commandGroup } from '../cli.ts';
import { badUsage } from '../errors.ts';
import { readTime } from '../flags.ts';
import type { Column } from '../output/output.ts';
import { pagesOf } from '../pages.ts';
import { isLoopback } from '../target/choose-target.ts';

export function triggers(): Command {
  const commands = [list(), show(), pause(), resume(), rewind(), environment()];
  return commandGroup('triggers', 'list, halt and rewind triggers', commands);
}

function list(): Command {
  return command('list')
    .description('list the triggers: state, lag, parked cells')
    .examples(['schemaless triggers list', 'all triggers of the datastore'])
    .run<[]>(async ({ output, api }) => {
      await output.list<TriggerSummary>([(await (await api()).listTriggers()).triggers], COLUMNS);
    });
}

function show(): Command {
  return command('show')
    .description('show a trigger')
    .argument('<trigger>', 'its name')
    .option('--shards', 'its shards instead: up to which added id each was sent and consumed')
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
    .description('pause sending and consuming; messages stay')
    .argument('<trigger>', 'its name')
    .option('--reason <text>', 'shown to other users')
    .examples(['schemaless triggers pause bill_rider --reason "card service is down"', ''])
    .prints<[name: string], { readonly reason?: string }>((api, [trigger], { reason }) =>
      api.pauseTrigger({ trigger, reason }),
    );
}

function resume(): Command {
  return command('resume')
    .description('resume a paused or stopped trigger; parked cells stay parked')
    .argument('<trigger>', 'its name')
    .examples(['schemaless triggers resume bill_rider', ''])
    .prints<[name: string]>((api, [trigger]) => api.resumeTrigger({ trigger }));
}

function rewind(): Command {
  return command('rewind')
    .description('set a trigger to other offsets in the logs; cells that are sent again are marked as replays')
    .argument('<trigger>', 'its name')
    .option('--dry-run', 'show the effect, and change nothing')
    .argument('<to...>', 'start, now, a time, or SHARD=ADDED_ID for some shards: it continues after that cell')
    .examples(
      ['schemaless triggers rewind bill_rider start', 'all cells again'],
      ['schemaless triggers rewind bill_rider 2026-01-31T08:00:00Z', 'since a time'],
      ['schemaless triggers rewind bill_rider now --dry-run', 'how many cells it would skip'],
      ['schemaless triggers rewind bill_rider 3=120 17=0', 'two shards'],
    )
    .run<[name: string, to: readonly string[]], { readonly dryRun?: boolean }>(
      async ({ output, api }, [trigger, texts], { dryRun: dry_run = false }) => {
        const to = readTarget(texts);
        await output.record(await (await api()).rewindTrigger({ trigger, to, dry_run }));
      },
    );
}

function environment(): Command {
  return command('environment')
    .description('print the environment variables of a consumer in a process of your own, as NAME=VALUE')
    .examples(
      ['schemaless triggers environment > .env', 'for node --env-file=.env consumer.js'],
      ['export $(schemaless triggers environment)', 'for this shell'],
    )
    .run<[]>(async ({ output, api, target }) => {
      const { consumer_environment: given } = await (await api()).listTriggers();
      const variables = {
        ...given,
        [ENVIRONMENT_VARIABLES.apiUrl]: (await target()).url,
        // A local stack takes any credentials; on AWS they are those of the process.
        ...(isLoopback(given['AWS_ENDPOINT_URL_SQS'] ?? 'none:') && LOCAL_CREDENTIALS),
      };
      const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
      await output.text(lines.join(''));
    });
}

const LOCAL_CREDENTIALS = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' };

function readTarget(texts: readonly string[]): RewindTarget {
  const [only = '', ...others] = texts;
  if ((only === 'start' || only === 'now') && others.length === 0) return only;
  const shards = texts.map((text) => /^(\d{1,5})=(\d{1,16})$/u.exec(text));
  if (shards.every((matched) => matched !== null))
    return Object.fromEntries(shards.map(([, shard, id]) => [String(Number(shard)), Number(id)]));
  const wanted = 'start, now, a time with zone, or SHARD=ADDED_ID as often as wanted';
  // Two words are no time, even if they look like one.
  if (others.length > 0) throw badUsage('to', wanted, JSON.stringify(texts.join(' ')));
  return readTime(only, 'to', wanted);
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

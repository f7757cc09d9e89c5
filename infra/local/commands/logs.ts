import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { logLineAsJson, showLogLine, readLogs } from '../control/read-logs.ts';
import { existingFolder } from '../folder/data-folder.ts';
import { dataFlag } from './flags.ts';

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** How far back the logs go without a request id. */
const RECENT = '10m';

interface Flags {
  readonly data: string;
  readonly follow?: true;
  readonly function?: string;
  readonly since?: string;
  readonly format: 'text' | 'ndjson';
}

/** `npm run local -- logs`: what requests and functions left in the logs. */
export function logsCommand(): Command {
  return new Command('logs')
    .description('print log lines of requests and functions, of a stack that runs or ran')
    .argument('[request-id]', 'the x-request-id of an answer: every line about that request')
    .addOption(dataFlag())
    .option('-f, --follow', 'goes on with what comes, until Ctrl-C')
    .option('--function <title>', 'of one function, such as write-cells, or of the gateway')
    .addOption(
      new Option(
        '--since <when>',
        `a time (2026-11-24T08:00:00Z), or how long ago: 30s, 5m, 2h, 1d (default: ${RECENT}, of a request all)`,
      ).argParser(startOf),
    )
    .addOption(
      new Option('--format <name>', 'text, or ndjson: JSON, a line each').choices(['text', 'ndjson']).default('text'),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  npm run local -- logs order-17\n  npm run local -- logs -f --function write-cells\n  npm run local -- logs --since 1h --format ndjson | jq .message',
    )
    .action(show);
}

async function show(requestId: string | undefined, flags: Flags): Promise<void> {
  const folder = existingFolder(resolve(flags.data));
  const stopped = new AbortController();
  process.once('SIGINT', () => stopped.abort());
  // A reader such as `head` may close the pipe.
  process.stdout.on('error', () => process.exit());
  const since = flags.since ?? (requestId === undefined ? startOf(RECENT) : undefined);
  const wanted = { requestId, title: flags.function, since };
  const shown = flags.format === 'ndjson' ? logLineAsJson : showLogLine;
  let count = 0;
  for await (const line of readLogs(folder, wanted, flags.follow ? stopped.signal : undefined)) {
    console.log(shown(line));
    count += 1;
  }
  if (count > 0 || flags.follow) return;
  console.error(requestId === undefined ? 'nothing was logged' : `nothing was logged of the request ${requestId}`);
  process.exitCode = 1;
}

function startOf(text: string): string {
  const [, count, unit] = /^(\d{1,6})([smhd])$/u.exec(text) ?? [];
  if (count !== undefined && (unit === 's' || unit === 'm' || unit === 'h' || unit === 'd'))
    return new Date(Date.now() - Number(count) * UNIT_MS[unit]).toISOString();
  const time = Date.parse(text);
  if (!/^\d{4}-\d\d-\d\d/u.test(text) || Number.isNaN(time))
    throw new InvalidArgumentError(
      `Wanted a time such as 2026-11-24T08:00:00Z, or 30s, 5m, 2h, 1d, got ${JSON.stringify(text)}.`,
    );
  return new Date(time).toISOString();
}

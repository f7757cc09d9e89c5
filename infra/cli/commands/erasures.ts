import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Erasure } from '../../../shared/api/erasures.ts';
import type { ApiClient } from '../../../shared/client/api-client.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { parseTime } from '../../../shared/time.ts';
import { command, commandGroup } from '../cli.ts';
import { badUsage, endingOf, type Ending } from '../errors.ts';
import { limitFlag } from '../flags.ts';
import type { Column } from '../output/output.ts';
import { pagesOf } from '../pages.ts';
import type { Session } from '../session.ts';

export function erasures(): Command {
  return commandGroup('erasures', 'lists what was erased, and has it erased again', [])
    .addCommand(list(), { isDefault: true })
    .addCommand(again());
}

export function erasure(): Command {
  return command('erasure')
    .description('shows the record of an erasure: what, by whom and why, and which places are clean')
    .argument('<id>', 'its id')
    .examples(['schemaless erasure b7b0f6a4-3f5e-5a42-9c64-2f3b1d0f7a11', 'all that is known'])
    .run<[id: string]>(async (session, [id]) =>
      session.output.record(await (await session.api()).getErasure({ erasure: id })),
    );
}

interface ListFlags {
  readonly open?: true | undefined;
  readonly limit?: number | undefined;
}

function list(): Command {
  return command('list')
    .description('lists the records of erasures, in no order')
    .option('--open', 'those that are not done everywhere yet')
    .addOption(limitFlag('records'))
    .examples(
      ['schemaless erasures', 'all of them'],
      ['schemaless erasures --open', 'what they wait for'],
      ['schemaless erasures --format ndjson > erasures.ndjson', 'kept, for when everything is set back'],
    )
    .run<[], ListFlags>(async (session, _none, { open, limit }) => {
      const { listErasures } = await session.api();
      await session.output.list(
        pagesOf(listErasures, { open }, ({ erasures }) => erasures, limit),
        COLUMNS,
      );
    });
}

interface AgainFlags {
  readonly since: string;
  readonly until?: string;
  readonly records?: string;
}

function again(): Command {
  return command('again')
    .description('has erased once more what was erased since a time: after a group was set back, or a backup restored')
    .requiredOption('--since <time>', 'erasures that were asked for, or became done, then or later')
    .option('--until <time>', 'and were asked for before that (default: now)')
    .option('--records <file>', 'those that `schemaless erasures --format ndjson` printed (default: all there are)')
    .examples(
      ['schemaless erasures again --since 2026-01-31T08:00:00Z', 'what a group that was set back to then has again'],
      [
        'schemaless erasures again --since 2026-01-31T08:00:00Z --records erasures.ndjson',
        'where the records were set back, too',
      ],
    )
    .notes(`Each is asked for with its own reason. What is gone already stays gone, so that this can be repeated. Ends with 5 where
one failed, or is not done everywhere yet.`)
    .run<[], AgainFlags>(async (session, _none, flags) => eraseAgain(session, flags));
}

async function eraseAgain(session: Session, flags: AgainFlags): Promise<Ending> {
  const since = readTime('--since', flags.since);
  const until = flags.until === undefined ? undefined : readTime('--until', flags.until);
  const kept = flags.records === undefined ? undefined : readRecords(flags.records);
  const api = await session.api();
  const counts = { asked: 0, erased: 0, erasing: 0 };
  const failed: { readonly id: string; readonly code: string; readonly message: string }[] = [];
  let ending: Ending | undefined;
  for await (const page of kept ? [kept] : pagesOf(api.listErasures, {}, ({ erasures }) => erasures))
    for (const record of page) {
      if (lastTimeOf(record) < since || (until !== undefined && asTime(record.requested_at) >= until)) continue;
      counts.asked += 1;
      try {
        counts[(await api.eraseCells(requestOf(record))).state] += 1;
      } catch (error) {
        if (!(error instanceof SchemalessError)) throw error;
        ending ??= endingOf(error);
        failed.push({ id: record.id, code: error.code, message: error.message });
      }
    }
  await session.output.record({ ...counts, failed });
  if (counts.erasing > 0) session.note(`${counts.erasing} go on by themselves: schemaless erasures --open lists them`);
  return ending ?? (counts.erasing > 0 ? 'unavailable' : 'ok');
}

function requestOf({ row_key, column_name, ref_key, up_to, reason }: Erasure): Parameters<ApiClient['eraseCells']>[0] {
  return {
    row_key,
    ...(column_name !== null && { column_name }),
    ...(ref_key !== null && { ref_key }),
    ...(up_to !== null && { up_to }),
    reason,
  };
}

/** When it was last worked on: one that goes on may have been done in part alone by any time. */
function lastTimeOf({ state, requested_at, cleaned }: Erasure): string {
  if (state === 'erasing') return LATER;
  return [requested_at, ...Object.values(cleaned)].map(asTime).reduce((last, time) => (time > last ? time : last));
}

const LATER = 'Z';

/** Times of records have three decimals, which do not compare with six. */
function asTime(time: string | null): string {
  return time === null ? '' : parseTime(time, 'requested_at');
}

function readTime(flag: string, text: string): string {
  try {
    return parseTime(text, flag);
  } catch {
    throw badUsage(flag, 'a time with zone like 2026-01-31T08:00:00Z', JSON.stringify(text.slice(0, 60)));
  }
}

function readRecords(path: string): readonly Erasure[] {
  const wanted = 'records as NDJSON, as `schemaless erasures --format ndjson` prints them';
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw badUsage('--records', wanted, `${path}, which cannot be read`);
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line, position) => {
    const record = toRecord(line);
    if (record === undefined) throw badUsage('--records', wanted, `line ${position + 1} of ${path}`);
    return record;
  });
}

function toRecord(line: string): Erasure | undefined {
  try {
    const record = JSON.parse(line) as Erasure;
    lastTimeOf(record);
    const { row_key, reason, id } = record;
    return [row_key, reason, id].every((member) => typeof member === 'string') ? record : undefined;
  } catch {
    return undefined;
  }
}

const COLUMNS: readonly Column<Erasure>[] = [
  { header: 'ID', value: ({ id }) => id, width: 36 },
  { header: 'STATE', value: ({ state }) => state, width: 7 },
  { header: 'SCOPE', value: ({ scope }) => scope, width: 8 },
  { header: 'ROW KEY', value: ({ row_key }) => row_key, width: 36 },
  { header: 'COLUMN', value: ({ column_name }) => column_name, width: 8 },
  { header: 'REF', value: ({ ref_key, up_to }) => ref_key ?? up_to, width: 3 },
  { header: 'ASKED', value: ({ requested_at }) => requested_at.replace(/\.\d+/u, ''), width: 20 },
  { header: 'BY', value: ({ requested_by }) => requested_by, wide: true },
  { header: 'SHARD', value: ({ shard }) => shard, wide: true },
  { header: 'ADDED', value: ({ added_id }) => added_id, wide: true },
  { header: 'CELLS', value: ({ cells }) => cells },
  { header: 'BYTES', value: ({ bytes }) => bytes, wide: true },
  { header: 'BACKUPS UNTIL', value: ({ backups_until }) => backups_until, wide: true },
  { header: 'REASON', value: ({ reason }) => reason, wide: true },
  { header: 'WAITS FOR', value: ({ waits_for }) => waits_for },
];

export function retention(): Command {
  return command('retention')
    .description('shows how long cells are kept, and what was erased by that')
    .examples(['schemaless retention', 'of the datastore that is meant'])
    .run<[]>(async (session) => session.output.record(await (await session.api()).getRetention()));
}

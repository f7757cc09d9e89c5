import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Erasure } from '../../../shared/api/erasures.ts';
import type { ApiClient } from '../../../shared/client/api-client.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { parseTime } from '../../../shared/time.ts';
import { command, commandGroup } from '../cli.ts';
import { badUsage, endingOf, type Ending } from '../errors.ts';
import { limitFlag, readTime } from '../flags.ts';
import type { Column } from '../output/output.ts';
import { pagesOf } from '../pages.ts';
import type { Session } from '../session.ts';

export function erasures(): Command {
  return commandGroup('erasures', 'list erasures, and repeat them', [])
    .addCommand(list(), { isDefault: true })
    .addCommand(again());
}

export function erasure(): Command {
  return command('erasure')
    .description('show the record of an erasure: target, caller, reason, and the places that are done')
    .argument('<id>', 'its id')
    .examples(['schemaless erasure b7b0f6a4-3f5e-5a42-9c64-2f3b1d0f7a11', 'all that is known'])
    .prints<[id: string]>((api, [erasure]) => api.getErasure({ erasure }));
}

interface ListFlags {
  readonly open?: true | undefined;
  readonly limit?: number | undefined;
}

function list(): Command {
  return command('list')
    .description('list the records of erasures, in no order')
    .option('--open', 'those that are not done everywhere yet')
    .addOption(limitFlag('records'))
    .examples(
      ['schemaless erasures', 'all of them'],
      ['schemaless erasures --open', 'what they wait for'],
      ['schemaless erasures --format ndjson > erasures.ndjson', 'a copy, for a restore to a point in time'],
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
    .description('repeat the erasures since a time, after a group or a backup was restored to it')
    .requiredOption('--since <time>', 'erasures that were requested, or completed, then or later')
    .option('--until <time>', 'and were requested before that (default: now)')
    .option('--records <file>', 'the output of `schemaless erasures --format ndjson` (default: all records)')
    .examples(
      ['schemaless erasures again --since 2026-01-31T08:00:00Z', 'for a group restored to then'],
      [
        'schemaless erasures again --since 2026-01-31T08:00:00Z --records erasures.ndjson',
        'if the records were also restored',
      ],
    )
    .notes(`Each is requested with its original reason. Repeating it is safe: erased cells stay erased. Ends with 5 if an erasure
failed, or is not done everywhere yet.`)
    .run<[], AgainFlags>(async (session, _none, flags) => eraseAgain(session, flags));
}

async function eraseAgain(session: Session, flags: AgainFlags): Promise<Ending> {
  const since = readTime(flags.since, '--since');
  const until = flags.until === undefined ? undefined : readTime(flags.until, '--until');
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
  if (counts.erasing > 0) session.note(`${counts.erasing} continue: schemaless erasures --open lists them`);
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

/** Returns the time of its last progress: an open erasure may have been incomplete at any time. */
function lastTimeOf({ state, requested_at, cleaned }: Erasure): string {
  if (state === 'erasing') return LATER;
  return [requested_at, ...Object.values(cleaned)].map(asTime).reduce((last, time) => (time > last ? time : last));
}

const LATER = 'Z';

/** Adds decimals: records have three, which do not compare with six. */
function asTime(time: string | null): string {
  return time === null ? '' : parseTime(time, 'requested_at');
}

function readRecords(path: string): readonly Erasure[] {
  const wanted = 'records as NDJSON, from `schemaless erasures --format ndjson`';
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
    .description('show the retention rules, and the cells that they erased')
    .examples(['schemaless retention', 'of the chosen datastore'])
    .prints<[]>((api) => api.getRetention());
}

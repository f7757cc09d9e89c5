import { Command } from 'commander';
import { parseRowKey } from '../../../shared/address.ts';
import type { HeldBy, Hold } from '../../../shared/contract/retention-operations.ts';
import { action, commandGroup, examples } from '../cli.ts';
import { badUsage } from '../command-error.ts';
import { limitFlag } from '../flags.ts';
import type { Column } from '../output/output.ts';
import { pagesOf } from '../pages.ts';

interface HeldFlags {
  readonly subject?: string;
}

const SUBJECT = ['--subject <name>', 'in place of a row: whom sealed fields are of'] as const;
const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';

/** `schemaless holds`: lists them where nothing else is said. */
export function holds(): Command {
  return commandGroup('holds', 'lists what is held back from every erasure, holds more, and releases it', [])
    .addCommand(list(), { isDefault: true })
    .addCommand(put())
    .addCommand(release());
}

function list(): Command {
  return new Command('list')
    .description('lists holds, in no order')
    .argument('[row-key]', 'those of this row')
    .option(...SUBJECT)
    .addOption(limitFlag('rows and subjects'))
    .addHelpText('after', examples(['schemaless holds', 'all of them'], [`schemaless holds list ${ROW}`, 'of a row']))
    .action(
      action<[rowKey: string | undefined], HeldFlags & { readonly limit?: number }>(
        async (session, [rowKey], { subject, limit: most }) => {
          const operations = await session.retention();
          const row_key = rowKey === undefined ? undefined : parseRowKey(rowKey);
          const pages = pagesOf(async (limit, after: string | undefined) => {
            const { holds: items, next } = await operations.holds({ row_key, subject, limit, after });
            return { items, next };
          }, most);
          await session.output.list(pages, COLUMNS);
        },
      ),
    );
}

function put(): Command {
  return new Command('put')
    .description('holds a row, or a subject: nothing of it is erased until it is released')
    .argument('<hold>', 'its name, as that of a case')
    .argument('[row-key]', 'a UUID')
    .option(...SUBJECT)
    .requiredOption('--reason <text>', 'kept until it is released')
    .addHelpText('after', examples([`schemaless holds put case-17 ${ROW} --reason 'evidence'`, 'holds the row']))
    .action(
      action<[hold: string, rowKey: string | undefined], HeldFlags & { readonly reason: string }>(
        async (session, [hold, rowKey], { subject, reason }) => {
          const held = heldBy(hold, rowKey, subject);
          return session.output.record(await (await session.retention()).putHold({ ...held, reason }));
        },
      ),
    );
}

function release(): Command {
  return new Command('release')
    .description('releases a hold')
    .argument('<hold>', 'its name')
    .argument('[row-key]', 'a UUID')
    .option(...SUBJECT)
    .addHelpText('after', examples([`schemaless holds release case-17 ${ROW}`, 'the row may be erased again']))
    .action(
      action<[hold: string, rowKey: string | undefined], HeldFlags>(async (session, [hold, rowKey], { subject }) => {
        const held = heldBy(hold, rowKey, subject);
        return session.output.record(await (await session.retention()).releaseHold(held));
      }),
    );
}

/** Throws a CommandError. */
function heldBy(hold: string, rowKey: string | undefined, subject: string | undefined): HeldBy {
  if (rowKey !== undefined && subject !== undefined) throw badUsage('--subject', 'it or a row key', 'both');
  if (rowKey !== undefined) return { hold, row_key: parseRowKey(rowKey) };
  if (subject === undefined) throw badUsage('row-key', 'the row that is held, or --subject', 'none');
  return { hold, subject };
}

const COLUMNS: readonly Column<Hold>[] = [
  { header: 'HOLD', value: ({ hold }) => hold, width: 20 },
  { header: 'ROW KEY', value: ({ row_key }) => row_key, width: 36 },
  { header: 'SUBJECT', value: ({ subject }) => subject },
  { header: 'SINCE', value: ({ requested_at }) => requested_at.replace(/\.\d+/u, ''), width: 20 },
  { header: 'BY', value: ({ requested_by }) => requested_by, wide: true },
  { header: 'REASON', value: ({ reason }) => reason },
];

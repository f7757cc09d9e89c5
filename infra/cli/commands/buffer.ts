import type { Command } from 'commander';
import type { BufferConflict, GroupBuffer } from '../../../shared/api/buffer.ts';
import { stringifyJson } from '../../../shared/body/json.ts';
import { command, commandGroup } from '../cli.ts';
import { badUsage, CommandError } from '../errors.ts';
import { limitFlag } from '../flags.ts';
import type { Column } from '../output/output.ts';
import { pagesOf } from '../pages.ts';
import type { Session } from '../session.ts';

export function buffer(): Command {
  return commandGroup('buffer', 'show buffered writes, and decide conflicts and writes in doubt', [
    status(),
    commandGroup('conflicts', 'list or discard writes that got 202, but whose address has another body', [
      listKept('conflicts', 'list kept conflicts', 'conflicts'),
      discardConflicts(),
    ]),
    commandGroup('in-doubt', 'list and choose between bodies that are in doubt after the loss of a disk', [
      listKept(
        'in_doubt',
        'list copies of two bodies for one address, either of which may have been acknowledged',
        'of them',
      ),
      chooseInDoubt(),
    ]),
  ]);
}

function status(): Command {
  return command('status')
    .description('show the buffer of each group')
    .examples(['schemaless buffer status', 'rows, age of the oldest, kept conflicts'])
    .run<[]>(async ({ output, api }) => {
      const { groups } = await (await api()).getBuffer();
      await output.list<GroupBuffer>([groups], STATUS_COLUMNS);
      return groups.some((group) => 'error' in group) ? 'unavailable' : 'ok';
    });
}

function discardConflicts(): Command {
  return command('discard')
    .description('delete kept conflicts permanently')
    .argument('<id...>', 'GROUP/NUMBER, from list')
    .option('--yes', 'without asking')
    .examples(['schemaless buffer conflicts discard group-2/17', 'one of them'])
    .run<[ids: readonly string[]], { readonly yes?: true }>(async (session, [given], flags) => {
      const ids = readIds(given);
      const question = `Delete ${ids.length} of the kept conflicts permanently?`;
      if (!(await session.confirmed(question, flags.yes, 'nothing was discarded'))) return undefined;
      const { discarded } = await (await session.api()).discardBufferConflicts({ ids });
      return counted(session, 'discarded', discarded, ids.length);
    });
}

function listKept(of: 'conflicts' | 'in_doubt', description: string, listed: string): Command {
  return command('list')
    .description(description)
    .addOption(limitFlag(listed))
    .examples([`schemaless buffer ${of.replace('_', '-')} list`, 'with their bodies'])
    .run<[], { readonly limit?: number }>(async ({ output, api }, _none, flags) => {
      const client = await api();
      const pages =
        of === 'conflicts'
          ? pagesOf(client.listBufferConflicts, {}, ({ conflicts }) => conflicts, flags.limit)
          : pagesOf(client.listWritesInDoubt, {}, ({ in_doubt }) => in_doubt, flags.limit);
      await output.list<BufferConflict>(pages, KEPT_COLUMNS);
    });
}

function chooseInDoubt(): Command {
  return command('keep')
    .description('choose these bodies: each is stored, the others at its address become kept conflicts')
    .argument('<id...>', 'GROUP/NUMBER, from list')
    .examples(['schemaless buffer in-doubt keep group-2/17', 'one of them'])
    .run<[ids: readonly string[]]>(async (session, [given]) => {
      const ids = readIds(given);
      const { kept } = await (await session.api()).keepWritesInDoubt({ ids });
      return counted(session, 'kept', kept, ids.length);
    });
}

function readIds(given: readonly string[]): readonly string[] {
  const wrong = given.find((id) => !/^[\w.-]+\/\d+$/u.test(id));
  if (wrong !== undefined) throw badUsage('id', 'GROUP/NUMBER, from list', JSON.stringify(wrong.slice(0, 60)));
  return given;
}

async function counted({ output }: Session, what: string, count: number, wanted: number): Promise<void> {
  await output.record({ [what]: count });
  if (count < wanted)
    throw new CommandError(`${what} ${count} of ${wanted}: the others are not there any more`, {
      ending: 'notFound',
      fix: 'List them again',
    });
}

const STATUS_COLUMNS: readonly Column<GroupBuffer>[] = [
  { header: 'GROUP', value: ({ group }) => group },
  { header: 'WAITING', value: (one) => ('error' in one ? null : one.rows) },
  {
    header: 'OLDEST',
    value: (one) => ('error' in one || one.oldest_age === null ? null : `${Math.round(one.oldest_age)} s`),
  },
  { header: 'SET ASIDE', value: (one) => ('error' in one ? null : one.parked) },
  { header: 'CONFLICTS', value: (one) => ('error' in one ? null : one.conflicts) },
  { header: 'IN DOUBT', value: (one) => ('error' in one ? one.error.detail : one.in_doubt) },
];

const KEPT_COLUMNS: readonly Column<BufferConflict>[] = [
  { header: 'ID', value: ({ id }) => id },
  { header: 'ROW KEY', value: ({ row_key }) => row_key },
  { header: 'COLUMN', value: ({ column_name }) => column_name },
  { header: 'REF', value: ({ ref_key }) => ref_key },
  { header: 'SHARD', value: ({ shard }) => shard, wide: true },
  { header: 'BUFFERED', value: ({ created_at }) => created_at },
  { header: 'BODY', value: ({ body }) => stringifyJson(body) },
];

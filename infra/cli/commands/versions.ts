import { Option, type Command } from 'commander';
import { parseColumnName, parseRowKey } from '../../../shared/address.ts';
import { CELL_COLUMNS } from '../cell-columns.ts';
import { command } from '../cli.ts';
import { limitFlag, readFlags, wholeNumberFlag } from '../flags.ts';
import { pagesOf } from '../pages.ts';
import { readOptions, type ReadFlags } from './get.ts';

interface VersionsFlags extends ReadFlags {
  readonly order?: 'asc' | 'desc';
  readonly after?: number;
  readonly limit?: number;
}

export function versions(): Command {
  return command('versions')
    .description('lists the cells of a column, the newest first')
    .argument('<row-key>', 'a UUID')
    .argument('<column>', 'its name')
    .addOption(new Option('-o, --order <order>', 'desc: the newest first (default)').choices(['asc', 'desc']))
    .addOption(wholeNumberFlag('--after <ref-key>', 'those behind it in that order', 0, 2 ** 53 - 1))
    .addOption(limitFlag('cells'))
    .examples(
      ['schemaless versions 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 STATUS', 'all of them'],
      ['schemaless versions 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 STATUS --order asc -n 1', 'the first'],
    )
    .addOptions(readFlags())
    .run<[rowKey: string, column: string], VersionsFlags>(async (session, [rowKey, column], flags) => {
      const key = { row_key: parseRowKey(rowKey), column_name: parseColumnName(column) };
      const client = await session.connect();
      const { order, after: first } = flags;
      const ask = (limit: number, after: number | undefined = first) =>
        client.versions(key, { limit, order, after, ...readOptions(flags) });
      const pages = pagesOf(ask, ({ cells }) => cells, flags.limit);
      await session.output.list(pages, CELL_COLUMNS);
    });
}

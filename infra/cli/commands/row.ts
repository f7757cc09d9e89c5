import type { Command } from 'commander';
import { parseRowKey } from '../../../shared/address.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { CELL_COLUMNS } from '../cell-columns.ts';
import { command } from '../cli.ts';
import { readFlags, repeatableFlag } from '../flags.ts';
import { pagesOf } from '../pages.ts';
import { readOptions, type ReadFlags } from './get.ts';

export function row(): Command {
  return command('row')
    .description('lists the latest cell of each column of a row')
    .argument('<row-key>', 'a UUID')
    .addOption(repeatableFlag('-c, --column <name>', 'that is wanted; repeatable (default: all)'))
    .examples(
      ['schemaless row 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0', 'all columns'],
      ['schemaless row 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 -c BASE -c STATUS', 'two of them'],
    )
    .addOptions(readFlags())
    .run<[rowKey: string], ReadFlags & { readonly column?: readonly string[] }>(
      async (session, [rowKey], { column: columns, ...flags }) => {
        const row_key = parseRowKey(rowKey);
        const client = await session.connect();
        let found = 0;
        const pages = pagesOf(
          (_limit, after: string | undefined) => client.row(row_key, { columns, after, ...readOptions(flags) }),
          ({ cells }) => ((found += cells.length), cells),
        );
        await session.output.list(pages, CELL_COLUMNS);
        if (found === 0) throw new SchemalessError('cell_not_found', `The row ${rowKey} has no such cell`);
      },
    );
}

import type { Command } from 'commander';
import { parseColumnName, parseRowKey } from '../../../shared/address.ts';
import { command } from '../cli.ts';
import { readFlags } from '../flags.ts';
import { printFound } from '../print-found.ts';
import { readOptions, type ReadFlags } from './get.ts';

export function latest(): Command {
  return command('latest')
    .description('reads the cell of a column with the highest ref key')
    .argument('<row-key>', 'a UUID')
    .argument('<column>', 'its name')
    .option('-b, --body', 'the body alone, as JSON')
    .examples(
      ['schemaless latest 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 BASE', 'the cell and where it lies'],
      ['schemaless latest 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 BASE --read reader', 'of a reader, if it is there'],
    )
    .addOptions(readFlags())
    .run<[rowKey: string, column: string], ReadFlags>(async (session, [rowKey, column], flags) => {
      const key = { row_key: parseRowKey(rowKey), column_name: parseColumnName(column) };
      const client = await session.connect();
      const found = await client.getLatest(key, readOptions(flags));
      await printFound(session, found, { what: `${rowKey} ${column}`, body: flags.body === true });
    });
}

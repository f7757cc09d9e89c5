import type { Command } from 'commander';
import { parseAddress } from '../../../shared/address.ts';
import type { Found, ReadOptions } from '../../../shared/contract/datastore.ts';
import { command } from '../cli.ts';
import { readFlags } from '../flags.ts';
import { printFound } from '../print-found.ts';
import { readRefKey } from './put.ts';

export interface ReadFlags {
  readonly read?: 'writer' | 'reader';
  readonly minAddedId?: number;
  readonly body?: true;
}

export function get(): Command {
  return command('get')
    .description('reads one cell')
    .argument('<row-key>', 'a UUID')
    .argument('<column>', 'its name')
    .argument('<ref-key>', 'its version')
    .option('-b, --body', 'the body alone, as JSON')
    .examples(
      ['schemaless get 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 BASE 1', 'the cell and where it lies'],
      ['schemaless get 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 BASE 1 --body | jq .city', 'of its body'],
    )
    .addOptions(readFlags())
    .run<[rowKey: string, column: string, refKey: string], ReadFlags>(async (session, parameters, flags) => {
      const [row_key, column_name, refKey] = parameters;
      const address = parseAddress({ row_key, column_name, ref_key: readRefKey(refKey) });
      const client = await session.connect();
      const found: Found = await client.get(address, readOptions(flags));
      await printFound(session, found, { what: `${row_key} ${column_name} ${refKey}`, body: flags.body === true });
    });
}

export function readOptions({ read, minAddedId }: ReadFlags): ReadOptions {
  return { read, min_added_id: minAddedId };
}

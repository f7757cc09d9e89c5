import type { Command } from 'commander';
import type { ShardHead } from '../../../shared/contract/datastore.ts';
import { shardDatabase } from '../../../shared/address.ts';
import { command, commandGroup } from '../cli.ts';
import { readFlag } from '../flags.ts';
import { plan } from './rebalance.ts';

export function shards(): Command {
  return commandGroup('shards', 'lists the shards, and plans where they should be', [])
    .addCommand(list(), { isDefault: true })
    .addCommand(plan());
}

function list(): Command {
  return command('list')
    .description('lists the shards: group, database, and how far each log goes')
    .option('-g, --group <name>', 'those of one group')
    .addOption(readFlag())
    .examples(
      ['schemaless shards', 'all of them'],
      ['schemaless shards --group group-2', 'of a group'],
      ["schemaless shards | jq -s 'map(.head) | add'", 'cells in all'],
    )
    .run<[], { readonly group?: string; readonly read?: 'writer' | 'reader' }>(async (session, _none, flags) => {
      const client = await session.connect();
      const heads = await client.heads({ read: flags.read });
      const wanted = heads.filter(({ group }) => flags.group === undefined || group === flags.group);
      const rows = wanted.map((head) => ({ ...head, database: shardDatabase(client.name, head.shard) }));
      await session.output.list<ShardHead & { readonly database: string }>(
        [rows],
        [
          { header: 'SHARD', value: ({ shard }) => shard },
          { header: 'GROUP', value: ({ group }) => group },
          { header: 'DATABASE', value: ({ database }) => database },
          { header: 'HEAD', value: (row) => (row.error ? `(${row.error.code}: ${row.error.message})` : row.head) },
        ],
      );
      return rows.some(({ error }) => error !== undefined) ? 'unavailable' : 'ok';
    });
}

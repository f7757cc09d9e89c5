import type { Command } from 'commander';
import { stringifyJson } from '../../../shared/body/json.ts';
import type { IndexEntry } from '../../../shared/contract/index-query.ts';
import { command } from '../cli.ts';
import { limitFlag, readFlag, repeatableFlag } from '../flags.ts';
import { readConditions } from '../input/conditions.ts';
import type { Column } from '../output/output.ts';
import { pagesOf } from '../pages.ts';

interface QueryFlags {
  readonly fields?: string;
  readonly column?: readonly string[];
  readonly order?: string;
  readonly limit?: number;
  readonly read?: 'writer' | 'reader';
}

export function query(): Command {
  return command('query')
    .description('finds rows by the fields of their latest cells; asks one shard, that of the shard field')
    .argument('<index>', 'its name')
    .argument('<condition...>', 'FIELD=VALUE of the shard field; others also with != < <= > >= or [in]=')
    .option('--fields <names>', 'to answer, with commas (default: all)')
    .addOption(repeatableFlag('-c, --column <name>', "whose latest cells come along; repeatable, '*' for all"))
    .option('-o, --order <field>', '-FIELD for the highest first (default: by row key)')
    .addOption(limitFlag('entries'))
    .addOption(readFlag())
    .examples(
      ['schemaless query rider_index rider_uuid=d3b07384-…', "a rider's trips"],
      [
        "schemaless query driver_partner_index driver_partner_uuid=… 'fare.total>=20' -o -trip_created_at",
        'of 20 and more, the newest first',
      ],
      ["schemaless query pickup_zone_index PULocationID=132 'DOLocationID[in]=1' 'DOLocationID[in]=2'", 'one of'],
      ['schemaless query rider_index rider_uuid=… --fields trip_created_at -c NOTES', 'with cells'],
    )
    .notes(`schemaless explain --query INDEX CONDITION… says which shard, group and statement it is.`)
    .run<[index: string, conditions: readonly string[]], QueryFlags>(async (session, [index, texts], flags) => {
      const where = readConditions(texts);
      const columns = flags.column?.includes('*') === true ? '*' : flags.column;
      const { order, read } = flags;
      const fields = flags.fields?.split(',');
      const client = await session.connect();
      const pages = pagesOf(
        (limit, after: string | undefined) =>
          client.query({ index, where, fields, columns, order, read, limit, after }),
        ({ entries }) => entries,
        flags.limit,
      );
      await session.output.list(pages, columnsOf);
    });
}

function columnsOf({ fields, cells }: IndexEntry): readonly Column<IndexEntry>[] {
  return [
    { header: 'ROW KEY', value: ({ row_key }) => row_key },
    ...Object.keys(fields).map((name) => ({
      header: name,
      value: (entry: IndexEntry) => entry.fields[name],
    })),
    ...(cells === undefined ? [] : [{ header: 'CELLS', value: cellsShown }]),
  ];
}

function cellsShown({ cells = [] }: IndexEntry): string {
  if ('error' in cells) return `(${cells.error.code}: ${cells.error.message})`;
  return cells.map(({ column_name, ref_key, body }) => `${column_name} ${ref_key} ${stringifyJson(body)}`).join('; ');
}

import type { Command } from 'commander';
import { readConditions as readParameters } from '../../../shared/api/condition.ts';
import { parameterOf, type Operator, type Where } from '../../../shared/where.ts';
import type { IndexStatus } from '../../../shared/api/indexes.ts';
import { stringifyJson } from '../../../shared/body/json.ts';
import type { IndexEntry, Query } from '../../../shared/contract/index-query.ts';
import { command } from '../cli.ts';
import { badUsage, type Ending } from '../errors.ts';
import { limitFlag, readFlag, repeatableFlag } from '../flags.ts';
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
    .description('find rows by the fields of their latest cells; asks one shard, which the shard field selects')
    .argument('<index>', 'its name')
    .argument('<condition...>', 'FIELD=VALUE of the shard field; others also with != < <= > >= or [in]=')
    .option('--fields <names>', 'to answer, with commas (default: all)')
    .addOption(repeatableFlag('-c, --column <name>', "include its latest cells; repeatable, '*' for all"))
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
    .notes(`schemaless explain --query INDEX CONDITION… shows the shard, group and statement.`)
    .run<[index: string, conditions: readonly string[]], QueryFlags>(async (session, [index, texts], flags) => {
      const where = readConditions(texts);
      const columns = flags.column?.includes('*') === true ? '*' : flags.column;
      const { order, read } = flags;
      const fields = flags.fields?.split(',');
      const client = await session.connect();
      const ask = (given: Query) => client.query(given);
      const given: Query = { index, where, fields, columns, order, read };
      await session.output.list(
        pagesOf(ask, given, ({ entries }) => entries, flags.limit),
        columnsOf,
      );
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

const SIGNS: Readonly<Record<string, Operator>> = {
  '=': 'eq',
  '!=': 'ne',
  '<': 'lt',
  '<=': 'lte',
  '>': 'gt',
  '>=': 'gte',
};
const BRACKETED: readonly string[] = ['ne', 'lt', 'lte', 'gt', 'gte', 'in'];
const WANTED = 'FIELD=VALUE, or != < <= > >= instead of =, or FIELD[in]=VALUE for each value';

/** Reads conditions: `city=Lisbon`, `fare.total>=10`, `city[in]=Lisbon city[in]=Porto`. Throws a CommandError. */
export function readConditions(texts: readonly string[]): Where {
  const parameters = new Map<string, readonly string[]>();
  for (const text of texts) {
    const { value, ...condition } = readCondition(text);
    const parameter = parameterOf(condition);
    parameters.set(parameter, [...(parameters.get(parameter) ?? []), value]);
  }
  return readParameters(parameters);
}

function readCondition(text: string): { readonly field: string; readonly operator: Operator; readonly value: string } {
  const [, field = '', bracketed, sign = '', value = ''] =
    /^([^=!<>[\]]+)(?:\[([a-z]*)\])?(!=|<=|>=|=|<|>)(.*)$/su.exec(text) ?? [];
  const operator = bracketed === undefined ? SIGNS[sign] : (bracketed as Operator);
  const isKnown = bracketed === undefined || (BRACKETED.includes(bracketed) && sign === '=');
  if (field === '' || operator === undefined || !isKnown)
    throw badUsage('condition', WANTED, JSON.stringify(text.slice(0, 80)), "Quote it for the shell: 'fare.total>=10'");
  return { field, operator, value };
}

export function verifyIndex(): Command {
  return command('verify-index')
    .description('show the state of an index, or of all: progress, lag of the repair, mistyped fields')
    .argument('[index]', 'its name (default: all)')
    .examples(
      ['schemaless verify-index rider_index', 'one index'],
      ['until schemaless verify-index rider_index; do sleep 5; done', 'waits for a build'],
    )
    .notes(`Ends with 5 while an index is being built. The repair follows the logs, and compares entries with their cells (LAG shows its
lag). In the repository, npm run verify-index -- NAME --datastore DATASTORE compares all entries with all cells in
the databases of a local stack, and fixes them with --repair.`)
    .run<[name: string | undefined]>(async (session, [name]) => {
      const client = await session.connect();
      const statuses = name === undefined ? (await client.listIndexes()).indexes : [await client.getIndex(name)];
      if (name === undefined) await session.output.list<IndexStatus>([statuses], COLUMNS);
      else for (const status of statuses) await session.output.record(status);
      const ending: Ending = statuses.some(({ state }) => state === 'building') ? 'unavailable' : 'ok';
      if (session.output.format === 'table')
        session.note(
          `Compare all entries: npm run verify-index -- ${name ?? 'NAME'} --datastore ${client.name} (in the repository, on a local stack)`,
        );
      return ending;
    });
}

const COLUMNS: readonly Column<IndexStatus>[] = [
  { header: 'INDEX', value: ({ index }) => index },
  { header: 'STATE', value: ({ state }) => state },
  { header: 'PROGRESS', value: ({ progress }) => progress && `${progress.done} of ${progress.total} cells` },
  { header: 'LAG', value: ({ lag }) => lag },
  { header: 'LARGEST SHARE', value: ({ largest_share }) => largest_share?.toFixed(4), wide: true },
  {
    header: 'MISTYPED',
    value: ({ mistyped }) => mistyped.map(({ field, rows }) => `${field}: ${rows} rows`).join(', ') || 'none',
  },
  { header: 'FIELDS', value: ({ fields }) => fields.map(({ field, type }) => `${field} ${type}`).join(', ') },
];

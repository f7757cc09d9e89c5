import { Option, type Command } from 'commander';
import { parseAddress, parseColumnName, parseRowKey } from '../../../shared/address.ts';
import { stringifyJson } from '../../../shared/body/json.ts';
import type { Cell, ErasureScope } from '../../../shared/cell.ts';
import type { Found, ReadOptions, RowOptions, VersionsOptions } from '../../../shared/contract/datastore.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { command } from '../cli.ts';
import { limitFlag, readFlags, repeatableFlag, wholeNumberFlag } from '../flags.ts';
import type { Column } from '../output/output.ts';
import { prettyJson, printableJson } from '../output/text.ts';
import { pagesOf } from '../pages.ts';
import type { Session } from '../session.ts';
import { readRefKey } from './put.ts';

interface ReadFlags {
  readonly read?: 'writer' | 'reader';
  readonly minAddedId?: number;
  readonly body?: true;
}

export function get(): Command {
  return command('get')
    .description('read one cell')
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
      const found = await client.get(address, readOptions(flags));
      await printFound(session, found, `${row_key} ${column_name} ${refKey}`, flags);
    });
}

function readOptions({ read, minAddedId }: ReadFlags): ReadOptions {
  return { read, min_added_id: minAddedId };
}

export function latest(): Command {
  return command('latest')
    .description('read the cell of a column with the highest ref key')
    .argument('<row-key>', 'a UUID')
    .argument('<column>', 'its name')
    .option('-b, --body', 'the body alone, as JSON')
    .examples(
      ['schemaless latest 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 BASE', 'the cell and where it lies'],
      ['schemaless latest 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 BASE --read reader', 'from a reader, if there is one'],
    )
    .addOptions(readFlags())
    .run<[rowKey: string, column: string], ReadFlags>(async (session, [rowKey, column], flags) => {
      const key = { row_key: parseRowKey(rowKey), column_name: parseColumnName(column) };
      const client = await session.connect();
      const found = await client.getLatest(key, readOptions(flags));
      await printFound(session, found, `${rowKey} ${column}`, flags);
    });
}

interface VersionsFlags extends ReadFlags {
  readonly order?: 'asc' | 'desc';
  readonly after?: number;
  readonly limit?: number;
}

export function versions(): Command {
  return command('versions')
    .description('list the cells of a column, the newest first')
    .argument('<row-key>', 'a UUID')
    .argument('<column>', 'its name')
    .addOption(new Option('-o, --order <order>', 'desc: the newest first (default)').choices(['asc', 'desc']))
    .addOption(wholeNumberFlag('--after <ref-key>', 'cells after it in that order', 0, 2 ** 53 - 1))
    .addOption(limitFlag('cells'))
    .examples(
      ['schemaless versions 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 STATUS', 'all of them'],
      ['schemaless versions 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 STATUS --order asc -n 1', 'the first'],
    )
    .addOptions(readFlags())
    .run<[rowKey: string, column: string], VersionsFlags>(async (session, [rowKey, column], flags) => {
      const key = { row_key: parseRowKey(rowKey), column_name: parseColumnName(column) };
      const client = await session.connect();
      const { order, after } = flags;
      const ask = (options: VersionsOptions) => client.versions(key, options);
      const pages = pagesOf(ask, { order, after, ...readOptions(flags) }, ({ cells }) => cells, flags.limit);
      await session.output.list(pages, ROW_COLUMNS);
    });
}

export function row(): Command {
  return command('row')
    .description('list the latest cell of each column of a row')
    .argument('<row-key>', 'a UUID')
    .addOption(repeatableFlag('-c, --column <name>', 'only this column; repeatable (default: all)'))
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
        const ask = ({ after }: Pick<RowOptions, 'after'>) =>
          client.row(row_key, { columns, after, ...readOptions(flags) });
        const pages = pagesOf(ask, {}, ({ cells }) => ((found += cells.length), cells));
        await session.output.list(pages, ROW_COLUMNS);
        if (found === 0) throw new SchemalessError('cell_not_found', `The row ${rowKey} has no such cell`);
      },
    );
}

async function printFound(
  { output }: Session,
  { cell, served_by, stale, erasure }: Found,
  what: string,
  { body }: ReadFlags,
): Promise<void> {
  if (cell === null)
    throw new SchemalessError('cell_not_found', `No cell at ${what}${stale ? ', as far as a reader has seen' : ''}`, {
      more: { stale, served_by },
    });
  if (cell.erased === true)
    throw new SchemalessError(
      'erased',
      `${what} was erased${erasure ? ` at ${erasure.erased_at}: ${erasure.reason} (erasure ${erasure.id})` : ''}`,
    );
  if (!body) return output.record({ ...cell, served_by, stale });
  const text = output.format === 'ndjson' ? stringifyJson(cell.body) : prettyJson(cell.body);
  return output.text(`${printableJson(text)}\n`);
}

const ROW_KEY: Column<Cell> = { header: 'ROW KEY', value: ({ row_key }) => row_key, width: 36 };
const OTHER_COLUMNS: readonly Column<Cell>[] = [
  { header: 'COLUMN', value: ({ column_name }) => column_name, width: 8 },
  { header: 'REF', value: ({ ref_key }) => ref_key, width: 3 },
  { header: 'SHARD', value: ({ shard }) => shard, wide: true },
  { header: 'ADDED', value: ({ added_id }) => added_id, width: 6 },
  { header: 'CREATED', value: ({ created_at }) => created_at.replace(/\.\d+/u, ''), width: 20 },
  { header: 'BODY', value: bodyShown },
];
export const CELL_COLUMNS: readonly Column<Cell>[] = [ROW_KEY, ...OTHER_COLUMNS];
/** Of one row, whose key would take the room of bodies. */
const ROW_COLUMNS: readonly Column<Cell>[] = [{ ...ROW_KEY, wide: true }, ...OTHER_COLUMNS];

const WHAT: Readonly<Record<ErasureScope, string>> = {
  row: 'the row',
  column: 'the column',
  versions: 'the versions up to this one',
  cell: 'this cell',
};

function bodyShown({ body, erased, erasure, error }: Cell): string {
  if (error) return `(${error.code}: ${error.message})`;
  if (erasure) return `(erases ${WHAT[erasure.scope]}: ${erasure.reason})`;
  return erased === true ? '(erased)' : stringifyJson(body);
}

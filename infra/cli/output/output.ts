import { styleText } from 'node:util';
import { stringifyJson } from '../../../shared/body/json.ts';
import type { Format, Surface } from './format.ts';
import { withPlainErrors } from './plain-errors.ts';
import { prettyJson } from './pretty-json.ts';
import { printable, printableJson } from './printable.ts';
import { textTable } from './text-table.ts';
import type { Write } from './write-out.ts';

export interface Column<Row> {
  readonly header: string;
  readonly value: (row: Row) => unknown;
  /** Shown by `wide` alone. */
  readonly wide?: true;
  /** Characters at least, so that what comes later aligns with it. */
  readonly width?: number;
}

export interface Output {
  readonly format: Format;
  record(value: object): Promise<void>;
  /** Prints many of a kind as they come, under one header. */
  list<Row extends object>(
    pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
    columns: readonly Column<Row>[] | ((first: Row) => readonly Column<Row>[]),
  ): Promise<void>;
  text(text: string): Promise<void>;
}

export function openOutput(format: Format, surface: Surface, write: Write): Output {
  const mark = (header: string): string =>
    surface.colours ? styleText('bold', header, { validateStream: false }) : header;
  const width = format === 'wide' ? undefined : surface.columns;
  const lines = { json: listJson, ndjson: listLines } as const;
  return {
    format,
    text: write,
    async record(value) {
      if (format === 'json') return write(`${printableJson(prettyJson(withPlainErrors(value)))}\n`);
      if (format === 'ndjson') return write(`${jsonLine(value)}\n`);
      const rows = Object.entries(withPlainErrors(value)).filter(([, one]) => one !== undefined);
      const width = Math.max(...rows.map(([name]) => name.length));
      const text = rows.map(([name, one]) => `${mark(name.padEnd(width))}  ${inRecord(one, width + 2)}\n`);
      await write(text.join(''));
    },
    async list(pages, columns) {
      if (format === 'json' || format === 'ndjson') return lines[format](pages, write);
      let [seen, shown]: [boolean, Parameters<typeof choose>[0]] = [false, []];
      for await (const rows of pages) {
        const [first] = rows;
        if (first === undefined) continue;
        if (!seen) shown = choose(typeof columns === 'function' ? columns(first) : columns, format) as never;
        const cells = rows.map((row) => shown.map(({ value }) => inTable(value(row as never))));
        const headers = shown.map(({ header }) => header);
        const widths = shown.map((column) => Math.max(column.width ?? 0, column.header.length));
        const table = textTable({ headers, rows: cells, mark, width, widths });
        await write(`${seen ? table.slice(table.indexOf('\n') + 1) : table}\n`);
        seen = true;
      }
    },
  };
}

function choose<Row>(columns: readonly Column<Row>[], format: Format): readonly Column<Row>[] {
  return format === 'wide' ? columns : columns.filter(({ wide }) => wide !== true);
}

type Pages = AsyncIterable<readonly object[]> | Iterable<readonly object[]>;

async function listLines(pages: Pages, write: Write): Promise<void> {
  for await (const rows of pages) if (rows.length > 0) await write(rows.map((row) => `${jsonLine(row)}\n`).join(''));
}

async function listJson(pages: Pages, write: Write): Promise<void> {
  let before = '[\n  ';
  for await (const rows of pages) {
    for (const row of rows) {
      await write(`${before}${printableJson(prettyJson(withPlainErrors(row), '  '))}`);
      before = ',\n  ';
    }
  }
  await write(before.startsWith('[') ? '[]\n' : '\n]\n');
}

function jsonLine(value: object): string {
  return printableJson(stringifyJson(withPlainErrors(value)));
}

function inTable(value: unknown): string {
  if (value === undefined || value === null) return '-';
  return typeof value === 'string' ? printable(value) : printableJson(stringifyJson(value));
}

function inRecord(value: unknown, indent: number): string {
  if (typeof value !== 'object' || value === null) return inTable(value);
  return printableJson(prettyJson(value)).replaceAll('\n', `\n${' '.repeat(indent)}`);
}

import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';
import { styleText } from 'node:util';
import { stringifyJson } from '../../../shared/body/json.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { prettyJson, printable, printableJson, textTable } from './text.ts';

export const FORMATS = ['table', 'wide', 'json', 'ndjson'] as const;
export type Format = (typeof FORMATS)[number];

interface Surface {
  readonly isTerminal: boolean;
  readonly columns: number | undefined;
  readonly colours: boolean;
}

/** Returns the requested format, else a table on a terminal and lines for programs. */
export function formatFor(asked: Format | undefined, { isTerminal }: Surface): Format {
  return asked ?? (isTerminal ? 'table' : 'ndjson');
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Describes standard output. Colours follow https://no-color.org and FORCE_COLOR. */
export function surfaceOf(stream: NodeJS.WriteStream, environment: Environment): Surface {
  // Undefined if it is not a terminal, despite its type.
  const isTerminal = (stream.isTTY as boolean | undefined) === true;
  const forced = (environment['FORCE_COLOR'] ?? '') !== '' && environment['FORCE_COLOR'] !== '0';
  const refused = (environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb';
  return {
    isTerminal,
    columns: isTerminal ? stream.columns : undefined,
    colours: !refused && (isTerminal || forced),
  };
}

export interface Column<Row> {
  readonly header: string;
  readonly value: (row: Row) => unknown;
  /** Shown only by `wide`. */
  readonly wide?: true;
  /** The least characters, so that later rows align. */
  readonly width?: number;
}

export function openOutput(format: Format, surface: Surface, write: Write) {
  const mark = (header: string): string =>
    surface.colours ? styleText('bold', header, { validateStream: false }) : header;
  const width = format === 'wide' ? undefined : surface.columns;
  const lines = { json: listJson, ndjson: listLines } as const;
  return {
    format,
    text: write,
    async record(value: object): Promise<void> {
      if (format === 'json') return write(`${printableJson(prettyJson(withPlainErrors(value)))}\n`);
      if (format === 'ndjson') return write(`${jsonLine(value)}\n`);
      const rows = Object.entries(withPlainErrors(value)).filter(([, one]) => one !== undefined);
      const width = Math.max(...rows.map(([name]) => name.length));
      const text = rows.map(([name, one]) => `${mark(name.padEnd(width))}  ${inRecord(one, width + 2)}\n`);
      await write(text.join(''));
    },
    /** Prints items as they come, under one header. */
    async list<Row extends object>(
      pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
      columns: readonly Column<Row>[] | ((first: Row) => readonly Column<Row>[]),
    ): Promise<void> {
      if (format === 'json' || format === 'ndjson') return lines[format](pages, write);
      let [seen, shown]: [boolean, readonly Column<Row>[]] = [false, []];
      for await (const rows of pages) {
        const [first] = rows;
        if (first === undefined) continue;
        if (!seen) shown = choose(typeof columns === 'function' ? columns(first) : columns, format);
        const cells = rows.map((row) => shown.map(({ value }) => inTable(value(row))));
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

function withPlainErrors(item: object): object {
  const error = 'error' in item && item.error instanceof SchemalessError ? { error: plainError(item.error) } : {};
  const cells = 'cells' in item ? { cells: plainCells(item.cells) } : {};
  return 'error' in error || 'cells' in cells ? { ...item, ...error, ...cells } : item;
}

function plainCells(cells: unknown): unknown {
  if (Array.isArray(cells)) return cells.map((cell: object) => withPlainErrors(cell));
  return typeof cells === 'object' && cells !== null ? withPlainErrors(cells) : cells;
}

function plainError({ code, message, retry, details }: SchemalessError): object {
  const { field, wanted, got, address } = details;
  return { code, detail: message, retry, field, wanted, got, address };
}

/** Writes text to the output of results; resolves once it is written. */
type Write = (text: string) => Promise<void>;

/** Exits with 0 once the reader of results or help has closed its pipe, as after `head`. Messages may lose theirs. */
export function closeWithReaders({ stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>): void {
  const onClosed = (act: () => void) => (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
    act();
  };
  stdout.on(
    'error',
    onClosed(() => process.exit(0)),
  );
  stderr.on(
    'error',
    onClosed(() => undefined),
  );
}

/** Writes to a stream of this process. */
export function writeTo(stream: NodeJS.WriteStream): Write {
  return (text) =>
    new Promise((resolve) => {
      stream.write(text, () => resolve());
    });
}

const STDOUT = 1;

/** Returns a signal of the first Ctrl-C; the second ends the process. */
export function untilStopped(): AbortSignal {
  const stopped = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopped.abort());
  return stopped.signal;
}

/** Exits once standard output's reader has closed, as after `| head -1`: Node notices only at the next write. */
export function exitWithReader(): void {
  if (process.platform !== 'linux' || !fstatSync(STDOUT).isFIFO()) return;
  const watcher = spawn('tail', [`--pid=${process.pid}`, '-f', '/dev/null'], {
    stdio: ['ignore', 'inherit', 'ignore'],
  });
  watcher.on('error', () => undefined);
  watcher.on('exit', (_code, signal) => {
    if (signal === 'SIGPIPE') process.exit(0);
  });
  // It would keep the pipe open after this process.
  process.on('exit', () => watcher.kill());
  watcher.unref();
}

import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../shared/body/json.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { formatFor, surfaceOf, type Format, openOutput, type Column } from '../../../infra/cli/output/output.ts';
import { textTable } from '../../../infra/cli/output/text.ts';

interface Row {
  readonly name: string;
  readonly body: unknown;
}

const COLUMNS: readonly Column<Row>[] = [
  { header: 'NAME', value: ({ name }) => name },
  { header: 'SIZE', value: ({ name }) => name.length, wide: true },
  { header: 'BODY', value: ({ body }) => JSON.stringify(body) },
];
const TERMINAL = { isTerminal: true, columns: 30, colours: false };

async function listed(format: Format, rows: readonly Row[], surface = TERMINAL): Promise<string> {
  let written = '';
  const output = openOutput(format, surface, async (text) => void (written += text));
  await output.list([rows.slice(0, 1), rows.slice(1)], COLUMNS);
  return written;
}

async function recorded(format: Format, value: object): Promise<string> {
  let written = '';
  await openOutput(format, TERMINAL, async (text) => void (written += text)).record(value);
  return written;
}

const ROWS: readonly Row[] = [
  { name: 'one', body: { city: 'Lisbon' } },
  { name: 'two', body: 'x'.repeat(40) },
];

describe('results', () => {
  it('are a table for a terminal, under one header, cut to its width', async () => {
    expect(await listed('table', ROWS)).toBe(`NAME  BODY\none   {"city":"Lisbon"}\ntwo   "${'x'.repeat(22)}…\n`);
  });

  it('are whole, with more columns, where wide is asked for', async () => {
    expect(await listed('wide', ROWS)).toBe(
      `NAME  SIZE  BODY\none   3     {"city":"Lisbon"}\ntwo   3     "${'x'.repeat(40)}"\n`,
    );
  });

  it('are one JSON array, or a line each, for programs', async () => {
    expect(JSON.parse(await listed('json', ROWS))).toEqual(ROWS);
    expect(await listed('json', [])).toBe('[]\n');
    expect(await listed('ndjson', ROWS)).toBe(`${JSON.stringify(ROWS[0])}\n${JSON.stringify(ROWS[1])}\n`);
  });

  it('keep integers beyond 2^53 and the order of keys', async () => {
    const body = parseJson('{"9": 18446744073709551615, "1": 2}');
    expect(await recorded('ndjson', { body })).toBe('{"body":{"9":18446744073709551615,"1":2}}\n');
    expect(await recorded('json', { body })).toBe(
      '{\n  "body": {\n    "9": 18446744073709551615,\n    "1": 2\n  }\n}\n',
    );
  });

  it('do nothing to the terminal that shows them', async () => {
    const acting = '\u001b[2J\u009b31m\u202eevil\r\n';
    for (const format of ['table', 'wide', 'json', 'ndjson'] as const) {
      const text = await listed(format, [{ name: acting, body: acting }]);
      // oxlint-disable-next-line no-control-regex -- these are what it is about
      expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/u);
      if (format === 'ndjson') expect(JSON.parse(text)).toEqual({ name: acting, body: acting });
    }
  });

  it('say an error of an item as the API does', async () => {
    const error = new SchemalessError('unavailable', 'no node of group-1');
    const item = { shard: 3, error, cells: [{ error }] };
    const plain = { code: 'unavailable', detail: 'no node of group-1', retry: 'later' };
    expect(JSON.parse(await recorded('ndjson', item))).toEqual({ shard: 3, error: plain, cells: [{ error: plain }] });
  });

  it('have a bold header in colours, and none without', async () => {
    expect(await listed('table', ROWS, { ...TERMINAL, colours: true })).toContain('\u001b[1mNAME  BODY\u001b[22m');
  });
});

it('a table counts what a terminal shows, not characters', () => {
  const rows = [
    ['東京', 'a'],
    ['é', 'b'],
  ];
  expect(textTable({ headers: ['CITY', 'X'], rows })).toBe('CITY  X\n東京  a\né     b');
  expect(textTable({ headers: ['A', 'B'], rows: [['a', '東京東京東京東京']], width: 15 })).toBe('A  B\na  東京東京東…');
});

describe('the format', () => {
  it('is a table on a terminal, lines else, unless another is asked for', () => {
    expect(formatFor(undefined, TERMINAL)).toBe('table');
    expect(formatFor(undefined, { ...TERMINAL, isTerminal: false })).toBe('ndjson');
    expect(formatFor('json', TERMINAL)).toBe('json');
  });

  it('has colours on terminals alone, unless NO_COLOR says no, or FORCE_COLOR yes', () => {
    const [pipe, terminal] = [{ isTTY: false }, { isTTY: true, columns: 80 }] as [
      NodeJS.WriteStream,
      NodeJS.WriteStream,
    ];
    expect(surfaceOf(terminal, {}).colours).toBe(true);
    expect(surfaceOf(pipe, {}).colours).toBe(false);
    expect(surfaceOf(terminal, { NO_COLOR: '1' }).colours).toBe(false);
    expect(surfaceOf(terminal, { NO_COLOR: '' }).colours).toBe(true);
    expect(surfaceOf(terminal, { TERM: 'dumb' }).colours).toBe(false);
    expect(surfaceOf(pipe, { FORCE_COLOR: '1' }).colours).toBe(true);
  });
});

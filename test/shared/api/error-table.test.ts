import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ERROR_TEXTS } from '../../../shared/error-texts.ts';
import { ERRORS, type ErrorCode } from '../../../shared/errors.ts';

const PAGE = new URL('../../../infra/docs/api.md', import.meta.url);

describe('the table of errors', () => {
  it('has one row for each code, with its status', () => {
    const rows = errorTable().split('\n').slice(2);
    expect(rows.map((row) => row.split(' | ').slice(0, 2).join(' '))).toEqual(
      Object.entries(ERRORS).map(([code, { status }]) => `| \`${code}\` ${status}`),
    );
    // A bar inside a cell of the table would shift all others.
    expect(rows.filter((row) => row.split('|').length !== 7)).toEqual([]);
  });

  it.skipIf(!existsSync(PAGE))('is the one of the page on the API', () => {
    const [, table] = /<!-- errors -->\n([\s\S]*?)\n<!-- \/errors -->/.exec(readFileSync(PAGE, 'utf8')) ?? [];
    expect(table?.trim(), 'replace what is between the markers by the output of errorTable()').toBe(errorTable());
  });
});

/** The table of all error codes in `infra/docs/api.md`, in Markdown. */
function errorTable(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, retry }]) => {
    const { title, fix } = ERROR_TEXTS[code as ErrorCode];
    return `| \`${code}\` | ${status} | ${retry === 'later' ? 'yes' : 'no'} | ${title} | ${fix} |`;
  });
  return ['| code | status | retry? | meaning | fix |', '|---|---|---|---|---|', ...rows].join('\n');
}

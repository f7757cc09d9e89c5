import { ERRORS } from '../errors.ts';

/** The README's table of all error codes, in Markdown. */
export function errorTable(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, retry, title, cure }]) => `| \`${code}\` | ${status} | ${retry === 'later' ? 'yes' : 'no'} | ${title} | ${cure} |`,
  );
  return ['| code | status | repeat it? | meaning | cure |', '|---|---|---|---|---|', ...rows].join('\n');
}

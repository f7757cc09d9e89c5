import { ERRORS } from '../errors.ts';

/** The table of all error codes in `infra/docs/api.md`, in Markdown. */
export function errorTable(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, retry, title, cure }]) =>
      `| \`${code}\` | ${status} | ${retry === 'later' ? 'yes' : 'no'} | ${title} | ${cure} |`,
  );
  return ['| code | status | repeat it? | meaning | cure |', '|---|---|---|---|---|', ...rows].join('\n');
}

import { ERROR_TEXTS } from '../error-texts.ts';
import { ERRORS, type ErrorCode } from '../errors.ts';

/** The table of all error codes in `infra/docs/api.md`, in Markdown. */
export function errorTable(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, retry }]) => {
    const { title, cure } = ERROR_TEXTS[code as ErrorCode];
    return `| \`${code}\` | ${status} | ${retry === 'later' ? 'yes' : 'no'} | ${title} | ${cure} |`;
  });
  return ['| code | status | repeat it? | meaning | cure |', '|---|---|---|---|---|', ...rows].join('\n');
}

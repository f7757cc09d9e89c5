import { stringifyJson } from '../../shared/body/json.ts';
import { DefinitionsError } from '../../shared/definitions/definitions-error.ts';
import { ERROR_TEXTS } from '../../shared/error-texts.ts';
import { SchemalessError, type ErrorCode } from '../../shared/errors.ts';
import { FilesError } from '../../shared/files/files-error.ts';
import { printable } from './output/text.ts';

/** Exit codes, from which the table in `infra/docs/cli.md` is generated. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: 'Success. A write was stored, stored before, or buffered' },
  internal: { code: 1, meaning: 'Unexpected error, unknown error code, or faults that `export --check` found' },
  usage: { code: 2, meaning: 'Invalid command or field value: correct it. Nothing changed' },
  notFound: {
    code: 3,
    meaning:
      'The cell does not exist or was erased; no such datastore, shard, index, trigger, move, erasure or profile',
  },
  conflict: { code: 4, meaning: 'Another body is at the address, or the address was erased. Nothing changed' },
  unavailable: { code: 5, meaning: 'Not confirmed, or only in part: run the same command again, which is safe' },
  denied: { code: 6, meaning: 'The API refused the signature, or the request had none' },
  rejects: {
    code: 7,
    meaning:
      'Import: the lines in the rejects file were not stored; all others were, except after `too_many_rejects`. Comparison: some lines are not cells',
  },
  differs: { code: 8, meaning: 'Comparison or clone: the datastore differs; the output lists where' },
  interrupted: { code: 130, meaning: 'Ctrl-C: run the same command again to continue' },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>;

export type Ending = keyof typeof EXIT_CODES;

export function exitCodeTable(): string {
  const rows = Object.values(EXIT_CODES).map(({ code, meaning }) => `| ${code} | ${meaning} |`);
  return ['| exit code | meaning |', '|---|---|', ...rows].join('\n');
}

interface Details {
  readonly field?: string | undefined;
  readonly wanted?: string | undefined;
  readonly got?: string | undefined;
  readonly request_id?: string | undefined;
  readonly fix?: string | undefined;
}

interface CommandErrorDetails extends Details {
  readonly ending: Ending;
  readonly cause?: unknown;
}

/** An error of the command, not of the API. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly ending: Ending;
  readonly details: CommandErrorDetails;

  constructor(message: string, details: CommandErrorDetails) {
    super(message, { cause: details.cause });
    this.ending = details.ending;
    this.details = details;
  }
}

export function badUsage(field: string, wanted: string, got: string, fix?: string): CommandError {
  return new CommandError(`${field}: wanted ${wanted}, got ${got}`, { ending: 'usage', field, wanted, got, fix });
}

/** Endings by status, so that a new error code needs no line here. */
const BY_STATUS: Readonly<Record<number, Ending>> = {
  400: 'usage',
  403: 'denied',
  404: 'notFound',
  409: 'conflict',
  410: 'notFound',
  405: 'usage',
  413: 'usage',
  415: 'usage',
  503: 'unavailable',
};

/** Refusals for which the caller must change or delay the command: no conflict, no denied signature. */
const REFUSED: readonly ErrorCode[] = [
  'managed_by_deployment',
  'fixed_definition',
  'still_defined',
  'would_discard_data',
  'move_refused',
];

/** The gateway's statuses for a refused caller. */
const DENIED: readonly unknown[] = [401, 403];

export function endingOf(error: unknown): Ending {
  if (error instanceof CommandError || error instanceof FilesError) return error.ending;
  if (error instanceof DefinitionsError || isFileFault(error)) return 'usage';
  if (!(error instanceof SchemalessError)) return 'internal';
  if (DENIED.includes(error.details.more?.['answered'])) return 'denied';
  // The server is no Schemaless API: the request was valid.
  if (error.code === 'invalid_json' && error.details.field === 'answer') return 'internal';
  if (REFUSED.includes(error.code)) return 'usage';
  return BY_STATUS[error.status] ?? 'internal';
}

/** The file system's refusals of a path; others, as of a full disk, are no fault of the command. */
const REFUSED_PATH = ['EACCES', 'EEXIST', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'EPERM', 'EROFS'];

/** Returns whether the system refused a path of the command: no socket, no other program, no file of the package. */
function isFileFault(error: unknown): error is NodeJS.ErrnoException {
  if (!(error instanceof Error)) return false;
  const { code = '', syscall, path }: NodeJS.ErrnoException = error;
  // The system names no path when it reads a folder.
  if (path === undefined) return code === 'EISDIR';
  return REFUSED_PATH.includes(code) && !syscall?.startsWith('spawn') && !/[\\/]node_modules[\\/]/u.test(path);
}

function messageOf(error: unknown): string {
  if (!isFileFault(error)) return error instanceof Error ? error.message : String(error);
  // Files are written under another name first.
  const path = error.path?.replace(/\.\d+\.next$/u, '') ?? 'a file';
  return `${path}: wanted a path that can be read and written, got ${error.message.replace(/, .*$/u, '')}`;
}

const SIGN =
  'Sign the request: --sign, or `sign: true` of the profile, with credentials of AWS (AWS_PROFILE, or its variables) that may call this API';
const UNANSWERED = 'Check that the URL is right and the API runs (`npm start` runs one); then repeat it';
const REPORT = 'Report it, with the command and the output of `schemaless --version`';

export function errorText(error: unknown): string {
  const { code, message, ...rest } = shown(error);
  const lines = Object.entries({ ...rest, repeat: rest.repeat ? 'yes, it is safe' : undefined }).flatMap(
    ([name, value]) => (value === undefined ? [] : [`  ${name.replace('_', ' ').padEnd(10)}  ${printable(value)}`]),
  );
  // Errors of definitions have a line for each problem.
  const shownMessage =
    error instanceof DefinitionsError ? message.split('\n').map(printable).join('\n') : printable(message);
  return [`error: ${code}: ${shownMessage}`, ...lines].join('\n');
}

export function errorJson(error: unknown): string {
  return stringifyJson({ error: { ...shown(error), exit_code: EXIT_CODES[endingOf(error)].code } });
}

function shown(error: unknown) {
  const message = messageOf(error);
  const repeat = endingOf(error) === 'unavailable';
  const [code, { field, wanted, got, request_id, fix }] = codeAndDetails(error);
  return { code, message, field, wanted, got, request_id, repeat, fix };
}

function codeAndDetails(error: unknown): readonly [code: string, Details] {
  const ending = endingOf(error);
  if (error instanceof SchemalessError) {
    const { more, field, wanted, got } = error.details;
    const id = more?.['request_id'];
    const request_id = typeof id === 'string' ? id : undefined;
    return [ending === 'denied' ? ending : error.code, { field, wanted, got, request_id, fix: fixOf(error) }];
  }
  if (error instanceof CommandError) return [ending === 'notFound' ? 'not_found' : ending, error.details];
  if (error instanceof DefinitionsError) return ['invalid_definition', {}];
  if (error instanceof FilesError) return [error.code, {}];
  if (isFileFault(error)) return ['bad_input', {}];
  return ['internal', { fix: REPORT }];
}

function fixOf(error: SchemalessError): string | undefined {
  const { code, details } = error;
  if (code === 'unavailable' && details.cause !== undefined) return UNANSWERED;
  // A missing cell needs no fix, unless the answer came from a reader that may be behind.
  if (code === 'cell_not_found' && details.more?.['stale'] !== true) return undefined;
  return endingOf(error) === 'denied' ? SIGN : ERROR_TEXTS[code].fix;
}

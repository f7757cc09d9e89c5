import { stringifyJson } from '../../shared/body/json.ts';
import { DefinitionsError } from '../../shared/definitions/definitions-error.ts';
import { ERROR_TEXTS } from '../../shared/error-texts.ts';
import { SchemalessError, type ErrorCode } from '../../shared/errors.ts';
import { FilesError } from '../../shared/files/files-error.ts';
import { printable } from './output/text.ts';

/** Exit codes; the table in `infra/docs/cli.md` is made from this list. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: 'It was done; a write was stored, stored before, or buffered' },
  internal: { code: 1, meaning: 'An error that should not happen, or one that this version does not know' },
  usage: { code: 2, meaning: 'The command, or the value of a field, cannot be used: mend it. Nothing was changed' },
  notFound: {
    code: 3,
    meaning: 'No such cell, or it was erased; no such datastore, shard, index, trigger, move, erasure or profile',
  },
  conflict: {
    code: 4,
    meaning: 'Another body is at the address, or it was erased: cells never change, nor come back. Nothing was changed',
  },
  unavailable: { code: 5, meaning: 'Not confirmed, or not all of it: repeat it as it is, which is safe' },
  denied: { code: 6, meaning: 'The API refused the signature, or there was none to send' },
  rejects: {
    code: 7,
    meaning:
      'Of an import: what the file of rejects lists is not stored; all else is, unless it says that they were too many. Of a comparison: some lines are no cells',
  },
  differs: { code: 8, meaning: 'Of a comparison: the datastore does not have what the file says; the output lists it' },
  interrupted: { code: 130, meaning: 'Ctrl-C: called again it goes on where it was' },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>;

export type Ending = keyof typeof EXIT_CODES;

export function exitCodeTable(): string {
  const rows = Object.values(EXIT_CODES).map(({ code, meaning }) => `| ${code} | ${meaning} |`);
  return ['| exit code | meaning |', '|---|---|', ...rows].join('\n');
}

interface CommandErrorDetails {
  readonly ending: Ending;
  readonly cure?: string | undefined;
  readonly field?: string;
  readonly wanted?: string;
  readonly got?: string;
  readonly cause?: unknown;
}

/** An error of the command itself, before or beside what the API says. */
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

export function badUsage(field: string, wanted: string, got: string, cure?: string): CommandError {
  return new CommandError(`${field}: wanted ${wanted}, got ${got}`, { ending: 'usage', field, wanted, got, cure });
}

/** The status of an error says who is to do what, so that a new code needs no line here. */
const BY_STATUS: Readonly<Record<number, Ending>> = {
  400: 'usage',
  403: 'denied',
  404: 'notFound',
  409: 'conflict',
  410: 'notFound',
  413: 'usage',
  503: 'unavailable',
};

/** Refusals of a command that is to be another one, or to be given later: no cell is in the way, nor a signature. */
const REFUSED: readonly ErrorCode[] = [
  'goes_by_deploy',
  'fixed_definition',
  'still_defined',
  'would_lose',
  'move_refused',
];

/** What the gateway answers to who is not let in. */
const DENIED: readonly unknown[] = [401, 403];

export function endingOf(error: unknown): Ending {
  if (error instanceof CommandError || error instanceof FilesError) return error.ending;
  if (error instanceof DefinitionsError) return 'usage';
  if (!(error instanceof SchemalessError)) return 'internal';
  if (DENIED.includes(error.details.more?.['answered'])) return 'denied';
  // Something that is no API of ours: what was sent is not at fault.
  if (error.code === 'invalid_json' && error.details.field === 'answer') return 'internal';
  if (REFUSED.includes(error.code)) return 'usage';
  return BY_STATUS[error.status] ?? 'internal';
}

interface Details {
  readonly field?: string | undefined;
  readonly wanted?: string | undefined;
  readonly got?: string | undefined;
  readonly request_id?: string | undefined;
  readonly cure?: string | undefined;
}

interface Shown extends Details {
  readonly code: string;
  readonly message: string;
  readonly repeat: boolean;
}

const SIGN =
  'Sign the request: --sign, or `sign: true` of the profile, with credentials of AWS (AWS_PROFILE, or its variables) that may call this API';
const UNANSWERED = 'See whether the URL is right and the API runs (`npm start` runs one); then repeat it';
const REPORT = 'Report it, with the command and what `schemaless --version` says';

export function errorText(error: unknown): string {
  const { code, message, ...rest } = shown(error);
  const lines = Object.entries({ ...rest, repeat: rest.repeat ? 'yes, it is safe' : undefined }).flatMap(
    ([name, value]) => (value === undefined ? [] : [`  ${name.replace('_', ' ').padEnd(10)}  ${printable(value)}`]),
  );
  // Of definitions there is a problem a line.
  const shownMessage =
    error instanceof DefinitionsError ? message.split('\n').map(printable).join('\n') : printable(message);
  return [`error: ${code}: ${shownMessage}`, ...lines].join('\n');
}

export function errorJson(error: unknown): string {
  return stringifyJson({ error: { ...shown(error), exit_code: EXIT_CODES[endingOf(error)].code } });
}

function shown(error: unknown): Shown {
  const message = error instanceof Error ? error.message : String(error);
  const repeat = endingOf(error) === 'unavailable';
  const [code, { field, wanted, got, request_id, cure }] = codeAndDetails(error);
  return { code, message, field, wanted, got, request_id, repeat, cure };
}

function codeAndDetails(error: unknown): readonly [code: string, Details] {
  const ending = endingOf(error);
  if (error instanceof SchemalessError) {
    const { more, field, wanted, got } = error.details;
    const id = more?.['request_id'];
    const request_id = typeof id === 'string' ? id : undefined;
    return [ending === 'denied' ? ending : error.code, { field, wanted, got, request_id, cure: cureOf(error) }];
  }
  if (error instanceof CommandError) return [ending === 'notFound' ? 'not_found' : ending, error.details];
  if (error instanceof DefinitionsError) return ['invalid_definition', {}];
  if (error instanceof FilesError) return [error.code, {}];
  return ['internal', { cure: REPORT }];
}

function cureOf(error: SchemalessError): string | undefined {
  const { code, details } = error;
  if (code === 'unavailable' && details.cause !== undefined) return UNANSWERED;
  // There is nothing to mend where no cell is, unless a reader said so that may be behind.
  if (code === 'cell_not_found' && details.more?.['stale'] !== true) return undefined;
  return endingOf(error) === 'denied' ? SIGN : ERROR_TEXTS[code].cure;
}

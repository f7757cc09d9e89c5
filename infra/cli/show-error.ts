import { stringifyJson } from '../../shared/body/json.ts';
import { ERROR_TEXTS } from '../../shared/error-texts.ts';
import { DefinitionsError } from '../../shared/definitions/definitions-error.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { CommandError } from './command-error.ts';
import { endingOf } from './ending-of.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { FilesError } from '../../shared/files/files-error.ts';
import { printable } from './output/printable.ts';

interface Shown {
  readonly code: string;
  readonly message: string;
  readonly field?: string | undefined;
  readonly wanted?: string | undefined;
  readonly got?: string | undefined;
  readonly request_id?: string | undefined;
  readonly repeat: boolean;
  readonly cure?: string | undefined;
}

const CURES: Partial<Record<ReturnType<typeof endingOf>, string>> = {
  denied:
    'Sign the request: --sign, or `sign: true` of the profile, with credentials of AWS (AWS_PROFILE, or its variables) that may call this API',
};

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
  const ending = endingOf(error);
  const repeat = ending === 'unavailable';
  if (error instanceof SchemalessError) {
    const { field, wanted, got, more } = error.details;
    const id = more?.['request_id'];
    const request_id = typeof id === 'string' ? id : undefined;
    return { code: codeOf(error), message: error.message, field, wanted, got, request_id, repeat, cure: cureOf(error) };
  }
  if (error instanceof CommandError) {
    const { field, wanted, got, cure } = error.details;
    return {
      code: ending === 'notFound' ? 'not_found' : ending,
      message: error.message,
      field,
      wanted,
      got,
      repeat,
      cure,
    };
  }
  if (error instanceof DefinitionsError) return { code: 'invalid_definition', message: error.message, repeat };
  if (error instanceof FilesError) return { code: error.code, message: error.message, repeat };
  return {
    code: 'internal',
    message: error instanceof Error ? error.message : String(error),
    repeat,
    cure: 'Report it, with the command and what `schemaless --version` says',
  };
}

function cureOf(error: SchemalessError): string | undefined {
  if (isUnanswered(error)) return UNANSWERED;
  // There is nothing to mend where no cell is, unless a reader said so that may be behind.
  if (error.code === 'cell_not_found' && error.details.more?.['stale'] !== true) return undefined;
  return CURES[endingOf(error)] ?? ERROR_TEXTS[error.code].cure;
}

const UNANSWERED = 'See whether the URL is right and the API runs (`npm start` runs one); then repeat it';

function isUnanswered({ code, details }: SchemalessError): boolean {
  return code === 'unavailable' && details.cause !== undefined;
}

function codeOf(error: SchemalessError): string {
  return endingOf(error) === 'denied' ? 'denied' : error.code;
}

import { DefinitionsError } from '../../shared/definitions/definitions-error.ts';
import { SchemalessError, type ErrorCode } from '../../shared/errors.ts';
import { CommandError } from './command-error.ts';
import type { Ending } from './exit-codes.ts';
import { FilesError } from '../../shared/files/files-error.ts';

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

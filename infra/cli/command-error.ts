import type { Ending } from './exit-codes.ts';

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
  readonly ending: Ending;
  readonly details: CommandErrorDetails;

  constructor(message: string, details: CommandErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'CommandError';
    this.ending = details.ending;
    this.details = details;
  }
}

export function badUsage(field: string, wanted: string, got: string, cure?: string): CommandError {
  return new CommandError(`${field}: wanted ${wanted}, got ${got}`, { ending: 'usage', field, wanted, got, cure });
}

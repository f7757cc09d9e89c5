import { InvalidArgumentError } from 'commander';
import type { InputFormat } from './import/open-input.ts';

/** The value of `--format` of what is read. */
export function readFormat(value: string): InputFormat {
  if (value === 'ndjson' || value === 'csv') return value;
  throw new InvalidArgumentError(`Wanted ndjson or csv, got ${JSON.stringify(value)}.`);
}

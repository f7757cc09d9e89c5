import { InvalidArgumentError } from 'commander';
import type { DefaultRefKey } from './import/ndjson-source.ts';
import type { InputFormat } from './import/open-input.ts';

export function readFormat(value: string): InputFormat {
  if (value === 'ndjson' || value === 'csv') return value;
  throw new InvalidArgumentError(`Wanted ndjson or csv, got ${JSON.stringify(value)}.`);
}

export function readRefKey(value: string): DefaultRefKey {
  return value === 'line' ? 'line' : readCount(value);
}

export function readCount(value: string): number {
  if (/^\d{1,15}$/u.test(value)) return Number(value);
  throw new InvalidArgumentError(`Wanted a whole number, got ${JSON.stringify(value)}.`);
}

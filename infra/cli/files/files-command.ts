import { setFlagsFromString } from 'node:v8';
import { InvalidArgumentError, Option } from 'commander';
import { oneOf } from '../flags.ts';
import type { DefaultRefKey } from './import/ndjson-source.ts';
import type { InputFormat } from './import/open-input.ts';

export interface InputFlags {
  readonly format?: InputFormat;
  readonly mapping?: string;
  readonly refKey?: DefaultRefKey;
}

/** Returns the flags for the input of an import or a comparison. */
export function inputFlags(): readonly Option[] {
  return [
    new Option('--format <name>', 'ndjson or csv (default: by the name of the file)').argParser(
      oneOf(['ndjson', 'csv']),
    ),
    new Option('--mapping <file>', 'YAML that maps the columns of a CSV'),
    new Option('--ref-key <number>', 'for lines of NDJSON without one; line: the number of the line').argParser(
      (value: string) => (value === 'line' ? 'line' : readCount(value)),
    ),
  ];
}

export function readCount(value: string): number {
  if (/^\d{1,15}$/u.test(value)) return Number(value);
  throw new InvalidArgumentError(`Wanted a whole number, got ${JSON.stringify(value)}.`);
}

/** Keeps the heap small: half the memory for a quarter more processor time (an import of 200,000 cells). */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=50');
}

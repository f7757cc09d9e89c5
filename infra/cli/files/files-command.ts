import { setFlagsFromString } from 'node:v8';
import { InvalidArgumentError, Option } from 'commander';
import type { DefaultRefKey } from './import/ndjson-source.ts';
import type { InputFormat } from './import/open-input.ts';

export interface InputFlags {
  readonly format?: InputFormat;
  readonly mapping?: string;
  readonly refKey?: DefaultRefKey;
}

/** How cells that are imported, or compared, are read. */
export function inputFlags(): readonly Option[] {
  return [
    new Option('--format <name>', 'ndjson or csv (default: as the name of the file says)').argParser(readFormat),
    new Option('--mapping <file>', 'YAML that says what the columns of a CSV are'),
    new Option('--ref-key <number>', 'of lines of NDJSON without one; line: the number of the line').argParser(
      (value: string) => (value === 'line' ? 'line' : readCount(value)),
    ),
  ];
}

function readFormat(value: string): InputFormat {
  if (value === 'ndjson' || value === 'csv') return value;
  throw new InvalidArgumentError(`Wanted ndjson or csv, got ${JSON.stringify(value)}.`);
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

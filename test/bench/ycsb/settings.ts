import { InvalidArgumentError, Option } from 'commander';

/** Where the benchmark's operations go through. */
export const WAYS = ['library', 'http'] as const;
export type Way = (typeof WAYS)[number];

/** What may be asked for on the command line, as YCSB takes it besides its property files. */
export interface YcsbSettings {
  /** In place of `recordcount`, which is a number to begin with. @default 100000 */
  readonly records?: number;
  /** Of each workload, in place of `operationcount`. @default as many as the time allows */
  readonly operations?: number;
  /** @default 32 */
  readonly threads?: number;
  /** Of each workload at most. @default 20, and with `operations` no end but theirs */
  readonly seconds?: number;
  /** @default both */
  readonly through?: Way;
}

export function ycsbOptions(): readonly Option[] {
  return [
    wholeNumber('--records <count>', 'ycsb: records that are there at the beginning (default: 100000)', 1, 10_000_000),
    wholeNumber('--operations <count>', 'ycsb: of each workload (default: what the time allows)', 1, 1_000_000_000),
    wholeNumber('--threads <count>', 'ycsb: clients with one operation under way each (default: 32)', 1, 1024),
    wholeNumber('--seconds <count>', 'ycsb: of each workload at most (default: 20, none with --operations)', 1, 86_400),
    new Option('--through <way>', 'ycsb: library or http (default: both)').choices(WAYS),
  ];
}

/** What was asked for, out of all options. */
export function readYcsbSettings({ records, operations, threads, seconds, through }: YcsbSettings): YcsbSettings {
  return {
    ...(records === undefined ? {} : { records }),
    ...(operations === undefined ? {} : { operations }),
    ...(threads === undefined ? {} : { threads }),
    ...(seconds === undefined ? {} : { seconds }),
    ...(through === undefined ? {} : { through }),
  };
}

/** As they were typed: "--records 1000 --threads 8". */
export function settingsLine(settings: YcsbSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `--${name} ${value}`)
    .join(' ');
}

function wholeNumber(flags: string, description: string, min: number, max: number): Option {
  return new Option(flags, description).argParser((text: string) => {
    if (/^\d{1,10}$/u.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
    throw new InvalidArgumentError(`Wanted a whole number from ${min} to ${max}, got ${JSON.stringify(text)}.`);
  });
}

import { Command, InvalidArgumentError, Option } from 'commander';
import { ACCESSES, type Access } from '../../shared/environment.ts';
import type { TripSize } from '../support/trips/journey.ts';

export interface DemoOptions {
  readonly trips: number;
  readonly url: string | undefined;
  readonly data: string;
  readonly seed: string;
  readonly concurrency: number;
  readonly batch: number;
  readonly size: TripSize;
  /** How a stack that the demo starts reaches MySQL. */
  readonly access: Access;
}

/** Reads the command line. Ends the process with a message that names the flag when it cannot be used. */
export function readOptions(argv: readonly string[], command = demoCommand()): DemoOptions {
  const { trips, url, data, seed, concurrency, batch, size, access } = command
    .parse([...argv], { from: 'user' })
    .opts<DemoOptions>();
  return { trips, url, data, seed, concurrency, batch, size, access };
}

export function demoCommand(): Command {
  return new Command('npm run demo --')
    .description(
      'Writes realistic trips through HTTP, reads every cell back from writers, readers and logs, and compares.',
    )
    .addOption(
      new Option('--trips <number>', 'how many trips to write').default(2000).argParser(integer(1, 10_000_000)),
    )
    .addOption(
      new Option('--url <url>', 'the store to drive, for instance http://127.0.0.1:4000')
        .argParser(httpUrl)
        .conflicts('data'),
    )
    .addOption(
      new Option(
        '--data <folder>',
        'the data folder of a running stack; when none answers, the demo starts one of its own',
      ).default('.local'),
    )
    .addOption(new Option('--seed <text>', 'the same seed makes the same trips').default('1').argParser(text))
    .addOption(new Option('--concurrency <number>', 'requests at a time').default(16).argParser(integer(1, 256)))
    .addOption(new Option('--batch <number>', 'cells of a batch-put').default(20).argParser(integer(1, 100)))
    .addOption(
      new Option('--size <size>', 'of a trip: about 2 KB of JSON, or 20 KB')
        .choices(['usual', 'uber'])
        .default('usual'),
    )
    .addOption(
      new Option('--access <way>', 'how a stack that the demo starts reaches MySQL')
        .choices(ACCESSES)
        .default('mysql')
        .conflicts('url'),
    )
    .allowExcessArguments(false)
    .showHelpAfterError('(--help lists the flags)');
}

function integer(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Wanted an integer from ${least} to ${most}.`);
  };
}

function httpUrl(value: string): string {
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value.replace(/\/+$/, '');
  throw new InvalidArgumentError('Wanted a URL like http://127.0.0.1:4000.');
}

function text(value: string): string {
  if (value !== '') return value;
  throw new InvalidArgumentError('Wanted a text that is not empty.');
}

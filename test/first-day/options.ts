import { InvalidArgumentError, Option, type Command } from 'commander';
import { readOptions, smokeCommand, type SmokeOptions } from '../support/deployed/options.ts';

export interface FirstDayOptions extends SmokeOptions {
  /** Of each kind of request. */
  readonly samples: number;
  /** Whose writer is to be lost. */
  readonly failover?: string;
  /** As the stacks are named. @default the account is not asked */
  readonly environment?: string | undefined;
  /** Of a local stack. */
  readonly data: string;
  readonly page?: string;
}

/** Reads the command line. Ends the process with a line that names what cannot be used. */
export function readFirstDay(argv: readonly string[], command: Command = firstDayCommand()): FirstDayOptions {
  const { url, region } = readOptions(argv, command);
  return { ...command.opts<Omit<FirstDayOptions, 'url' | 'region'>>(), url, region };
}

export function firstDayCommand(): Command {
  return smokeCommand()
    .name('npm run first-day --')
    .description(
      'Measures a deployed environment as its callers see it, by its datastore smoke, and prints a page: latency by route, a burst, lags of readers and triggers, a failover, and what the account says of cold starts, pinned connections and the bill.',
    )
    .addOption(
      new Option('--samples <number>', 'of each kind of request').default(200).argParser((value) => atLeastOne(value)),
    )
    .addOption(
      new Option('--failover <group>', 'has this group, as group-1, lose its writer under load, for two minutes'),
    )
    .addOption(
      new Option(
        '--environment <name>',
        'as its stacks are named: what the account knows of it, and its failover, want it',
      ),
    )
    .addOption(new Option('--data <folder>', 'of a local stack, for its failover').default('.local'))
    .addOption(new Option('--page <file>', 'to write the page to (default: it is printed)'));
}

function atLeastOne(value: string): number {
  if (/^[1-9]\d{0,5}$/u.test(value)) return Number(value);
  throw new InvalidArgumentError('Wanted a number from 1 to 999999.');
}

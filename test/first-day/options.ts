import { Option, type Command } from 'commander';
import { wholeNumberFlag } from '../../infra/cli/flags.ts';
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

/** Reads the command line. Ends the process with a line that names an unusable option. */
export function readFirstDay(argv: readonly string[], command: Command = firstDayCommand()): FirstDayOptions {
  const { url, region } = readOptions(argv, command);
  return { ...command.opts<Omit<FirstDayOptions, 'url' | 'region'>>(), url, region };
}

export function firstDayCommand(): Command {
  return smokeCommand()
    .name('npm run first-day --')
    .description(
      'Measures a deployed environment from a caller, by its datastore smoke, and prints a page: latency by route, a burst, lags of readers and triggers, and a failover. Adds cold starts, pinned connections and the bill from the account.',
    )
    .addOption(wholeNumberFlag('--samples <number>', 'of each kind of request', 1, 999_999).default(200))
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

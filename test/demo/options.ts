import { Command, InvalidArgumentError, Option } from 'commander';
import { wholeNumberFlag } from '../../infra/cli/flags.ts';
import { ACCESSES, type Access } from '../../shared/environment.ts';

export interface DemoOptions {
  readonly trips: number;
  readonly url?: string;
  readonly data: string;
  readonly seed: string;
  /** How a stack that the demo starts reaches MySQL. */
  readonly access: Access;
}

/** Reads the command line. Ends the process with a message that names the flag when it cannot be used. */
export function readOptions(argv: readonly string[], command = demoCommand()): DemoOptions {
  return command.parse([...argv], { from: 'user' }).opts<DemoOptions>();
}

export function demoCommand(): Command {
  return new Command('npm run demo --')
    .description(
      'Writes realistic trips through HTTP, reads every cell back from writers, readers and logs, and compares.',
    )
    .addOption(wholeNumberFlag('--trips <number>', 'how many trips to write', 1, 100_000).default(2000))
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
    .addOption(new Option('--seed <text>', 'the same seed makes the same trips').default('1'))
    .addOption(
      new Option('--access <way>', 'how a stack that the demo starts reaches MySQL')
        .choices(ACCESSES)
        .default('mysql')
        .conflicts('url'),
    )
    .allowExcessArguments(false)
    .showHelpAfterError('(--help lists the flags)');
}

function httpUrl(value: string): string {
  if (URL.canParse(value) && /^https?:$/u.test(new URL(value).protocol)) return value.replace(/\/+$/u, '');
  throw new InvalidArgumentError('Wanted a URL like http://127.0.0.1:4000.');
}

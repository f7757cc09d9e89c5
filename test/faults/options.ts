import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { requestedEngine, type EngineKind } from '../../infra/setup/engine.mjs';
import { FAULT_RUNS, SHORT_RUNS } from './fault-runs.ts';

/** Stands for the runs that take a few minutes in total. */
const SHORT = 'short';

interface FaultOptions {
  readonly engine?: EngineKind;
  readonly seed?: string;
  readonly seconds?: number;
  /** The number of concurrent runs, of those that need not be alone. */
  readonly together: number;
}

/** Reads the command line. Ends the process with a message that names the invalid argument. */
export function readOptions(argv: readonly string[]) {
  const command = faultsCommand().parse([...argv], { from: 'user' });
  const { engine, seed, seconds, together } = command.opts<FaultOptions>();
  const names = command.processedArgs[0] as readonly string[];
  const wanted = names.flatMap((name) => (name === SHORT ? SHORT_RUNS : [name]));
  return {
    names: new Set(names.length === 0 ? FAULT_RUNS.map(({ name }) => name) : wanted),
    engine: engine ?? requestedEngine([], process.env),
    seed: seed ?? String(Math.floor(Math.random() * 1_000_000)),
    seconds,
    together,
  };
}

function faultsCommand(): Command {
  const engines = 'mysql or mariadb (default: SCHEMALESS_ENGINE, else MySQL if it is on the machine, else MariaDB)';
  const seconds = 'how long the load lasts, for runs that are measured by time (default: as long as their bar wants)';
  const runs = FAULT_RUNS.map(({ name, fault }) => `  ${name.padEnd(10)} ${fault}`).join('\n');
  return new Command('npm run faults --')
    .description(
      'Breaks a store started for this, and says whether the promises held. A check counts only when its control, which does without the protection, fails.',
    )
    .addArgument(
      new Argument('[names...]', 'the runs (default: all)').choices([SHORT, ...FAULT_RUNS.map(({ name }) => name)]),
    )
    .addOption(new Option('--engine <name>', engines).choices(['mysql', 'mariadb']))
    .option('--seed <text>', 'makes the same choices again (default: a new one, printed)')
    .option('--seconds <number>', seconds, wholeNumber(86_400))
    .option('--together <number>', 'how many runs go at once, of those that judge no latency', wholeNumber(20), 2)
    .addHelpText('after', `\nRuns (${SHORT}: ${SHORT_RUNS.join(', ')}):\n${runs}`)
    .showHelpAfterError('(--help lists the runs)');
}

function wholeNumber(most: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,5}$/.test(value) ? Number(value) : 0;
    if (number >= 1 && number <= most) return number;
    throw new InvalidArgumentError(`Wanted a whole number from 1 to ${most}, got ${JSON.stringify(value)}.`);
  };
}

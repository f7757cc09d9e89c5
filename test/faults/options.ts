import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { wishedEngine, type EngineKind } from '../../infra/setup/engine.mjs';
import { FAULT_RUNS, SHORT_RUNS } from './fault-runs.ts';

/** Stands for the runs that take a few minutes together. */
const SHORT = 'short';

interface FaultOptions {
  readonly engine?: EngineKind;
  readonly seed?: string;
  readonly seconds?: number;
  readonly history?: string;
  /** Of the runs that do not have to be alone, so many go at once; one where a history is kept. */
  readonly together: number;
}

/** Reads the command line. Ends the process with a message that names what cannot be used. */
export function readOptions(argv: readonly string[]) {
  const command = faultsCommand().parse([...argv], { from: 'user' });
  const { engine, seed, seconds, history, together } = command.opts<FaultOptions>();
  const names = command.processedArgs[0] as readonly string[];
  const wanted = names.flatMap((name) => (name === SHORT ? SHORT_RUNS : [name]));
  return {
    names: new Set(names.length === 0 ? FAULT_RUNS.map(({ name }) => name) : wanted),
    engine: engine ?? wishedEngine([], process.env),
    seed: seed ?? String(Math.floor(Math.random() * 1_000_000)),
    seconds,
    history,
    together: history === undefined ? together : 1,
  };
}

function faultsCommand(): Command {
  const engines = 'mysql or mariadb (default: SCHEMALESS_ENGINE, else MySQL if it is on the machine, else MariaDB)';
  const seconds = 'how long the load lasts, for runs that are measured by time (default: as long as their bar wants)';
  const history =
    'append every operation to this file, as JSON lines: invoke, then ok, fail or info; one run at a time then';
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
    .option('--history <file>', history)
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

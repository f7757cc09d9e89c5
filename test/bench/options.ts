import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { requestedEngine, type EngineKind } from '../../infra/setup/engine.mjs';
import type { Bench } from './bench.ts';

export interface BenchOptions {
  readonly benches: readonly Bench[];
  readonly engine: EngineKind | undefined;
  readonly seed: string;
  /** The file for the findings of the run. */
  readonly json: string | undefined;
}

/** Reads the command line. Ends the process with a message that names the invalid argument. */
export function readOptions(
  benches: readonly Bench[],
  argv: readonly string[],
  command = benchCommand(benches),
): BenchOptions {
  command.parse([...argv], { from: 'user' });
  const { engine, seed, json } = command.opts<{ engine?: EngineKind; seed?: string; json?: string }>();
  const names = command.processedArgs[0] as readonly string[];
  return {
    benches: benches.filter(({ name, isolated }) => (names.length === 0 ? !isolated : names.includes(name))),
    engine: engine ?? requestedEngine([], process.env),
    seed: seed ?? String(Math.floor(Math.random() * 1_000_000)),
    json,
  };
}

export function benchCommand(benches: readonly Bench[]): Command {
  const width = Math.max(0, ...benches.map(({ name }) => name.length));
  const lines = benches.map(
    ({ name, what, isolated, limitMinutes }) =>
      `  ${name.padEnd(width)}  ${what}${isolated ? ` (only by name, up to ${limitMinutes} minutes)` : ''}`,
  );
  return new Command('npm run bench --')
    .description('Measures a store started for this, and holds the figures against their bars.')
    .addArgument(
      new Argument('[names...]', 'the benches to run (default: all but the long ones)').choices(
        benches.map(({ name }) => name),
      ),
    )
    .addOption(
      new Option(
        '--engine <name>',
        'mysql or mariadb (default: SCHEMALESS_ENGINE, else MySQL if it is on the machine, else MariaDB)',
      ).choices(['mysql', 'mariadb']),
    )
    .addOption(new Option('--seed <text>', 'makes the same choices again (default: a new one, printed)'))
    .addOption(new Option('--json <file>', 'write what this run found to this file').argParser(writableFile))
    .addHelpText('after', `\nWhat there is:\n${lines.join('\n')}`)
    .showHelpAfterError('(--help lists what there is)');
}

/** Checks the file before the measurement, not afterwards. Leaves it as it is: a missing file stays missing. */
function writableFile(file: string): string {
  const wasThere = existsSync(file);
  try {
    closeSync(openSync(file, 'a'));
  } catch (error) {
    throw new InvalidArgumentError(
      `Wanted a file that can be written, got ${file}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (!wasThere) rmSync(file);
  return file;
}

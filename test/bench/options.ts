import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { wishedEngine, type EngineKind } from '../../infra/setup/engine.mjs';
import type { Bench } from './bench.ts';

export interface BenchOptions {
  readonly benches: readonly Bench[];
  readonly engine: EngineKind | undefined;
  readonly seed: string;
  /** File for what the run finds. */
  readonly json: string | undefined;
}

/** Reads the command line. Ends the process with a message that names what cannot be used. */
export function readOptions(
  benches: readonly Bench[],
  argv: readonly string[],
  command = benchCommand(benches),
): BenchOptions {
  command.parse([...argv], { from: 'user' });
  const { engine, seed, json } = command.opts<{ engine?: EngineKind; seed?: string; json?: string }>();
  const names = command.processedArgs[0] as readonly string[];
  return {
    benches: benches.filter(({ name, apart }) => (names.length === 0 ? !apart : names.includes(name))),
    engine: engine ?? wishedEngine([], process.env),
    seed: seed ?? String(Math.floor(Math.random() * 1_000_000)),
    json,
  };
}

export function benchCommand(benches: readonly Bench[]): Command {
  const width = Math.max(0, ...benches.map(({ name }) => name.length));
  const lines = benches.map(
    ({ name, what, apart, limitMinutes }) =>
      `  ${name.padEnd(width)}  ${what}${apart ? ` (only by name, up to ${limitMinutes} minutes)` : ''}`,
  );
  return new Command('npm run bench --')
    .description('Measures a store started for this, and holds the figures against their bars.')
    .addArgument(
      new Argument('[names...]', 'what to measure (default: all but what takes long)').choices(
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

/**
 * Checked before anything is measured, rather than afterwards. Leaves the file as it is: one that is not there is not
 * there afterwards either.
 */
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

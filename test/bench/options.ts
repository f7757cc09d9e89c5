import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { wishedEngine, type EngineKind } from '../../infra/setup/engine.mjs';
import type { Bench } from './bench.ts';
import { FINDINGS_FILE, readFindings } from './report/findings-file.ts';
import { readYcsbSettings, settingsLine, ycsbOptions, type YcsbSettings } from './ycsb/settings.ts';

export interface BenchOptions {
  readonly benches: readonly Bench[];
  readonly engine: EngineKind | undefined;
  readonly seed: string;
  /** File for what this run alone found. */
  readonly json: string | undefined;
  /** File that keeps what this run and others found. */
  readonly findings: string | undefined;
  /** Of the bench of that name. */
  readonly ycsb: YcsbSettings;
}

/** Reads the command line. Ends the process with a message that names what cannot be used. */
export function readOptions(
  benches: readonly Bench[],
  argv: readonly string[],
  command = benchCommand(benches),
): BenchOptions {
  command.parse([...argv], { from: 'user' });
  const options = command.opts<
    YcsbSettings & { engine?: EngineKind; seed?: string; json?: string; findings: string | false }
  >();
  const { engine, seed, json, findings } = options;
  const names = command.processedArgs[0] as readonly string[];
  const ycsb = readYcsbSettings(options);
  try {
    // What is given has been looked at by then.
    if (findings !== false && command.getOptionValueSource('findings') === 'default') findingsFile(findings);
    if (json !== undefined && json === findings)
      throw new Error(`--json and --findings: wanted two files, got ${json} twice`);
    if (settingsLine(ycsb) !== '' && !names.includes('ycsb'))
      throw new Error(`${settingsLine(ycsb)}: wanted ycsb among the names, got ${names.join(', ') || 'none'}`);
    return {
      benches: benches.filter(({ name, apart }) => (names.length === 0 ? !apart : names.includes(name))),
      engine: engine ?? wishedEngine([], process.env),
      seed: seed ?? String(Math.floor(Math.random() * 1_000_000)),
      json,
      findings: findings === false ? undefined : findings,
      ycsb,
    };
  } catch (error) {
    return command.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function benchCommand(benches: readonly Bench[]): Command {
  const width = Math.max(0, ...benches.map(({ name }) => name.length));
  const lines = benches.map(
    ({ name, what, apart, limitMinutes }) =>
      `  ${name.padEnd(width)}  ${what}${apart ? ` (only by name, up to ${limitMinutes} minutes)` : ''}`,
  );
  const command = new Command('npm run bench --')
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
    .addOption(
      new Option('--findings <file>', 'what `npm run report` makes a page of; keeps what other runs found')
        .default(FINDINGS_FILE, 'test/bench/findings.json')
        .argParser(findingsFile),
    )
    .addOption(new Option('--no-findings', 'keep nothing'))
    .addHelpText('after', `\nWhat there is:\n${lines.join('\n')}`)
    .showHelpAfterError('(--help lists what there is)');
  for (const option of ycsbOptions()) command.addOption(option);
  return command;
}

/** Known before anything is measured, rather than afterwards. */
function writableFile(file: string): string {
  return usable(file, checkWritable);
}

function findingsFile(file: string): string {
  return usable(writableFile(file), readFindings);
}

function usable(file: string, check: (file: string) => unknown): string {
  try {
    check(file);
    return file;
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Throws an Error unless the file can be written. Leaves it as it is: one that is not there is not there afterwards
 * either.
 */
function checkWritable(file: string): void {
  const wasThere = existsSync(file);
  try {
    closeSync(openSync(file, 'a'));
  } catch (error) {
    throw new Error(
      `Wanted a file that can be written, got ${file}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  if (!wasThere) rmSync(file);
}

import { join } from 'node:path';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { wishedEngine, type EngineKind } from '../../infra/setup/engine.mjs';
import type { Bench } from './bench.ts';
import { checkWritable, sectionsIn } from './report/report-file.ts';

const REPORT = join(import.meta.dirname, 'report.html');

export interface BenchOptions {
  readonly benches: readonly Bench[];
  readonly engine: EngineKind | undefined;
  readonly seed: string;
  /** File for the findings as JSON. */
  readonly json: string | undefined;
  /** File of the page. */
  readonly report: string | undefined;
}

/** Reads the command line. Ends the process with a message that names what cannot be used. */
export function readOptions(benches: readonly Bench[], argv: readonly string[], command = benchCommand(benches)): BenchOptions {
  command.parse([...argv], { from: 'user' });
  const { engine, seed, json, report } = command.opts<{ engine?: EngineKind; seed?: string; json?: string; report: string | false }>();
  const names = command.processedArgs[0] as readonly string[];
  try {
    // What is given has been looked at by then.
    if (report !== false && command.getOptionValueSource('report') === 'default') pageFile(report);
    if (json !== undefined && json === report) throw new Error(`--json and --report: wanted two files, got ${json} twice`);
    return {
      benches: benches.filter(({ name, apart }) => (names.length === 0 ? !apart : names.includes(name))),
      engine: engine ?? wishedEngine([], process.env),
      seed: seed ?? String(Math.floor(Math.random() * 1_000_000)),
      json,
      report: report === false ? undefined : report,
    };
  } catch (error) {
    return command.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function benchCommand(benches: readonly Bench[]): Command {
  const width = Math.max(0, ...benches.map(({ name }) => name.length));
  const lines = benches.map(({ name, what, apart, limitMinutes }) => `  ${name.padEnd(width)}  ${what}${apart ? ` (only by name, up to ${limitMinutes} minutes)` : ''}`);
  return new Command('npm run bench --')
    .description('Measures a store started for this, and holds the figures against their bars.')
    .addArgument(new Argument('[names...]', 'what to measure (default: all but what takes long)').choices(benches.map(({ name }) => name)))
    .addOption(new Option('--engine <name>', 'mysql or mariadb (default: SCHEMALESS_ENGINE, else MySQL if it is on the machine, else MariaDB)').choices(['mysql', 'mariadb']))
    .addOption(new Option('--seed <text>', 'makes the same choices again (default: a new one, printed)'))
    .addOption(new Option('--json <file>', 'write all findings to this file').argParser(writableFile))
    .addOption(new Option('--report <file>', 'the page of plots, which keeps what other runs found').default(REPORT, 'test/bench/report.html').argParser(pageFile))
    .addOption(new Option('--no-report', 'write no page'))
    .addHelpText('after', `\nWhat there is:\n${lines.join('\n')}`)
    .showHelpAfterError('(--help lists what there is)');
}

/** Known before anything is measured, rather than afterwards. */
function writableFile(file: string): string {
  return usable(file, checkWritable);
}

function pageFile(file: string): string {
  return usable(writableFile(file), sectionsIn);
}

function usable(file: string, check: (file: string) => unknown): string {
  try {
    check(file);
    return file;
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

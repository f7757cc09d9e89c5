/**
 * `npm run nightly -- [ROW…|FILE…] [--engine mysql|mariadb] [--night 0|1|2] [--seed TEXT]`: everything that `npm test`
 * and `.ci/run` leave out. Prints one table at its end; exits with 1 if a row failed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { requestedEngine, type EngineKind } from '../../infra/setup/engine.mjs';
import { FAULT_RUNS } from '../faults/fault-runs.ts';
import { onInterrupt } from '../support/interrupt.ts';
import { endProcessesOn } from '../support/leftovers.ts';
import { textTable } from '../support/text-table.ts';
import { nightlyRows, partOf, type NightlyRow } from './nightly-rows.ts';

interface Ended {
  readonly row: NightlyRow;
  readonly minutes: number;
  readonly outcome: 'passed' | 'FAILED' | 'stopped';
}

const command = new Command('npm run nightly --')
  .description('Runs the checks that npm test and .ci/run leave out, one after another, and prints a table.')
  .addArgument(new Argument('[rows...]', 'names of rows, or files of *.nightly.test.ts (default: every row)'))
  .addOption(new Option('--engine <name>', 'the engine under test').choices(['mysql', 'mariadb']))
  .addOption(new Option('--night <part>', 'which third of the fault runs (default: by date)').choices(['0', '1', '2']))
  .addOption(new Option('--seed <text>', 'of the simulation and the fault runs (default: a new one, printed)'))
  .parse();
const options = command.opts<{ engine?: EngineKind; night?: string; seed?: string }>();
const seed = options.seed ?? String(Math.floor(Math.random() * 1_000_000));
const part = options.night === undefined ? partOf(new Date()) : Number(options.night);
const engine = options.engine ?? requestedEngine([], process.env) ?? 'mysql';
const all = nightlyRows({ engine, part, seed, faultRuns: FAULT_RUNS.map(({ name }) => name) });
const wanted = command.processedArgs[0] as readonly string[];
const rows = wanted.length === 0 ? all : all.filter(({ name }) => wanted.includes(name));
const files = wanted.filter((name) => name.endsWith('.ts'));
const unknown = wanted.filter((name) => !files.includes(name) && !all.some((row) => row.name === name));
if (unknown.length > 0)
  command.error(`wanted rows among ${all.map(({ name }) => name).join(', ')}, got ${unknown.join(', ')}`);
const stacks = all.find(({ name }) => name === 'stacks');
const asked = files.length > 0 && stacks ? [...rows, { ...stacks, command: [...stacks.command, ...files] }] : rows;

// A row leaves files only in this folder, and its processes name it.
const folder = mkdtempSync(join(tmpdir(), 'schemaless-nightly-'));
const signal = onInterrupt(() => endProcessesOn(folder));
console.log(`nightly on ${engine}, part ${part + 1} of the fault runs, seed ${seed}`);
const ended: Ended[] = [];
try {
  for (const row of asked) ended.push(signal.aborted ? { row, minutes: 0, outcome: 'stopped' } : await carryOut(row));
} finally {
  endProcessesOn(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
const table = ended.map(({ row: { name, holds }, minutes, outcome }) => [name, outcome, minutes.toFixed(1), holds]);
console.log(`\n${textTable([['row', 'outcome', 'minutes', 'what it holds'], ...table], [2]).join('\n')}`);
process.exit(signal.aborted ? 130 : ended.every(({ outcome }) => outcome === 'passed') ? 0 : 1);

async function carryOut(row: NightlyRow): Promise<Ended> {
  console.log(`\n== ${row.name}: ${row.command.join(' ')}`);
  const start = performance.now();
  const env = { ...process.env, ...row.env, TMPDIR: folder };
  const child = spawn(process.execPath, row.command, {
    cwd: PROJECT_ROOT,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const end = (): void => void child.kill('SIGINT');
  signal.addEventListener('abort', end, { once: true });
  const [code] = await once(child, 'exit');
  signal.removeEventListener('abort', end);
  const left = endProcessesOn(folder);
  // The command line of the CDK leaves one that ends later.
  if (left.length > 0) console.log(`${row.name} left processes, which were ended: ${left.join(', ')}`);
  return { row, minutes: (performance.now() - start) / 60_000, outcome: code === 0 ? 'passed' : 'FAILED' };
}

/**
 * `npm run flakes -- --runs N [--beside 4] [FILE…]`: repeats the suite, or files of it, in parallel with busy loops.
 * Prints how often each test failed. Exits with 1 if one did.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Argument, Command } from 'commander';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { wholeNumberFlag } from '../../infra/cli/flags.ts';
import { onInterrupt } from '../support/interrupt.ts';
import { failedIn, failures, type RunReport } from './failures.ts';

/** A processor for each of these. */
const BUSY = 'for (;;);';

const command = new Command('npm run flakes --')
  .description('Repeats the tests beside busy loops and prints which test failed how often.')
  .addArgument(new Argument('[files...]', 'test files (default: the suite of npm test)'))
  .addOption(wholeNumberFlag('--runs <number>', 'how many runs', 1, 1000).default(5))
  .addOption(wholeNumberFlag('--beside <number>', 'how many busy loops', 0, 64).default(0))
  .parse();
const { runs, alongside } = command.opts<{ runs: number; alongside: number }>();
const files = command.processedArgs[0] as readonly string[];
const missing = files.filter((file) => !existsSync(join(PROJECT_ROOT, file)));
if (missing.length > 0) command.error(`wanted files of tests, got ${missing.join(', ')}`);

const folder = mkdtempSync(join(tmpdir(), 'schemaless-flakes-'));
const signal = onInterrupt(() => rmSync(folder, { recursive: true, force: true }));
const loops = Array.from({ length: alongside }, () => new Worker(BUSY, { eval: true }));
const reports: (RunReport | undefined)[] = [];
try {
  for (let run = 1; run <= runs && !signal.aborted; run += 1) {
    const start = performance.now();
    const report = await carryOut(join(folder, `${run}.json`));
    if (signal.aborted) break;
    reports.push(report);
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    const failed = failedIn(report);
    console.log(`run ${run} of ${runs}: ${seconds} s, ${failed.size} failed`);
    for (const [test, message] of failed) console.log(`  ${inProject(test)}: ${message}`);
  }
} finally {
  await Promise.all(loops.map((loop) => loop.terminate()));
  rmSync(folder, { recursive: true, force: true });
}
const failed = failures(reports);
for (const [test, count] of failed) console.log(`${count} of ${reports.length}  ${inProject(test)}`);
console.log(`${reports.length} runs beside ${alongside} busy loops: ${failed.length} tests failed`);
process.exit(signal.aborted ? 130 : failed.length === 0 ? 0 : 1);

function inProject(test: string): string {
  return test.replace(`${PROJECT_ROOT}/`, '');
}

async function carryOut(file: string): Promise<RunReport | undefined> {
  const projects = files.length > 0 ? [] : ['--project', 'plain', '--project', 'store'];
  const reporters = ['--reporter', 'json', '--outputFile', file];
  const vitest = join(PROJECT_ROOT, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', ...projects, ...reporters, ...files], {
    cwd: PROJECT_ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const end = (): void => void child.kill('SIGINT');
  signal.addEventListener('abort', end, { once: true });
  await once(child, 'exit');
  signal.removeEventListener('abort', end);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as RunReport) : undefined;
}

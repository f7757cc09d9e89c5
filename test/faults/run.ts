/** `npm run faults -- NAME …`: breaks a store that it starts for this, and reports whether the promises held. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { holds, type FaultRun, type RunOutcome } from './fault-run.ts';
import { FAULT_RUNS } from './fault-runs.ts';
import { onInterrupt } from '../support/interrupt.ts';
import { endProcessesOn } from '../support/leftovers.ts';
import type { RunOrder, RunWord } from './one-run.ts';
import { readOptions } from './options.ts';
import { runLines, summaryLines, type RunReport } from './report.ts';

/** Ends a run that hangs; the longest takes ten minutes on a busy machine. */
const ENDS_A_HANG_MS = 30 * 60_000;

const options = readOptions(process.argv.slice(2));
const folders = new Set<string>();
const signal = onInterrupt(() => {
  for (const folder of folders) {
    endProcessesOn(folder);
    rmSync(folder, { recursive: true, force: true });
  }
});

const reports: RunReport[] = [];
let broken = 0;
const wanted = FAULT_RUNS.filter(({ name }) => options.names.has(name));
await inTurn(
  wanted.filter(({ alone }) => !alone),
  options.together,
);
await inTurn(
  wanted.filter(({ alone }) => alone),
  1,
);
if (reports.length > 0) for (const line of summaryLines(reports)) console.log(line);
if (signal.aborted) process.exit(130);
const passed = broken === 0 && reports.every(({ outcome }) => outcome.checks.every(holds));
console.log(
  passed
    ? '\nevery check passed, every control failed as it must'
    : `\nFAIL${broken > 0 ? `: ${broken} runs did not come to their end` : ''}`,
);
process.exit(passed ? 0 : 1);

async function inTurn(runs: readonly FaultRun[], atOnce: number): Promise<void> {
  const waiting = [...runs];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let run = waiting.shift(); run && !signal.aborted; run = waiting.shift()) await report(run);
    }),
  );
}

async function report(run: FaultRun): Promise<void> {
  try {
    const done = await carryOut(run);
    reports.push(done);
    for (const line of runLines(done)) console.log(line);
  } catch (error) {
    broken += 1;
    if (signal.aborted) console.error(`${run.name}: stopped`);
    else console.error(`${run.name}:`, error);
  }
}

/** Runs it in a folder of its own, and leaves neither a file nor a process of it. */
async function carryOut(run: FaultRun): Promise<RunReport> {
  const { engine, seed, seconds } = options;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `schemaless-faults-${run.name}-`)));
  folders.add(folder);
  const start = performance.now();
  const elapsed = (): number => (performance.now() - start) / 1000;
  console.log(`${run.name}: ${run.fault} (seed ${seed})`);
  try {
    const say = (line: string): void =>
      console.log(`  ${run.name.padEnd(12)} ${elapsed().toFixed(0).padStart(4)} s  ${line}`);
    const outcome = await inProcess({ name: run.name, engine, seed, seconds, folder }, say);
    const left = endProcessesOn(folder);
    if (left.length > 0) throw new Error(`${run.name} left processes behind: ${left.join(', ')}`);
    return { run, outcome, seed, seconds: elapsed() };
  } finally {
    endProcessesOn(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    folders.delete(folder);
  }
}

/** Its command line names the folder, by which it is found when it must be ended. */
async function inProcess(order: RunOrder, say: (line: string) => void): Promise<RunOutcome> {
  const child = fork(new URL('one-run.ts', import.meta.url), [join(order.folder, 'run')], { execArgv: [] });
  const interrupt = (): void => void child.kill('SIGINT');
  signal.addEventListener('abort', interrupt, { once: true });
  let last: RunWord | undefined;
  child.on('message', (word: RunWord) => {
    if ('line' in word) say(word.line);
    else last = word;
  });
  child.send(order);
  const hung = setTimeout(() => child.kill('SIGKILL'), ENDS_A_HANG_MS + (order.seconds ?? 0) * 1000);
  // Its last message has arrived by then.
  await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  clearTimeout(hung);
  signal.removeEventListener('abort', interrupt);
  if (last && 'outcome' in last) return last.outcome;
  throw new Error(last && 'error' in last ? last.error : `it ended with ${child.exitCode ?? child.signalCode}`);
}

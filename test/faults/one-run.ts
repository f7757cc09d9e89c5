/** One fault run in a process of its own: an error in it, even a crash of its emulators, ends no other. */
import type { RunOutcome, RunWorld } from './fault-run.ts';
import { FAULT_RUNS } from './fault-runs.ts';
import { stackEngine } from './stack-program.ts';

export type RunOrder = Omit<RunWorld, 'signal' | 'say'> & { readonly name: string };

/** A message: its progress, or its outcome in the end. */
export type RunWord = { readonly line: string } | { readonly outcome: RunOutcome } | { readonly error: string };

const stopping = new AbortController();
// A repeated signal is left to the parent process.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(name, () => stopping.abort(new Error(`stopped by ${name}`)));
process.on('disconnect', () => process.exit(1));

const { name, ...world } = await new Promise<RunOrder>((resolve) => {
  process.once('message', (order) => resolve(order as RunOrder));
});
process.exit((await say(await carryOut())) ? 0 : 1);

async function carryOut(): Promise<RunWord> {
  try {
    const run = FAULT_RUNS.find((one) => one.name === name);
    if (!run) throw new Error(`no run ${name}`);
    const outcome = await run.run({ ...world, signal: stopping.signal, say: (line) => void say({ line }) });
    return { outcome: { engine: stackEngine(world), ...outcome } };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

/** Settled once it is sent. */
function say(word: RunWord): Promise<boolean> {
  return new Promise((resolve) => {
    process.send?.(word, (error: Error | null) => resolve(error === null));
  });
}

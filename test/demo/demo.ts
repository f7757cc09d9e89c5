import { operatorsClient } from '../support/operators-client.ts';
import { readOptions } from './options.ts';
import { runDemo } from './run-demo.ts';
import { reachStack } from './stack.ts';

/** The exit code that a shell gives for a program ended by SIGINT. */
const INTERRUPTED = 130;
/** How long a request is retried, such as while a server is unavailable. */
const DEADLINE_MS = 60_000;

const options = readOptions(process.argv.slice(2));
const interrupt = new AbortController();
const { signal } = interrupt;
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    if (!signal.aborted) console.log('\nstopping …');
    interrupt.abort();
  });
}

// Everything was stopped by now; whatever a bundler or an emulator has left open in this process must not hold it.
process.exit(await run());

async function run(): Promise<number> {
  try {
    const { url, sign, readers, stop } = await reachStack(options, console.log);
    try {
      signal.throwIfAborted();
      const store = operatorsClient({
        url,
        datastore: 'trips',
        ...(sign && { sign }),
        deadlineMs: DEADLINE_MS,
        signal,
      });
      const failed = await runDemo({ ...options, store, readers, signal, print: console.log });
      return failed === 0 ? 0 : 1;
    } finally {
      await stop();
    }
  } catch (error) {
    if (signal.aborted) return INTERRUPTED;
    console.error(`demo: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

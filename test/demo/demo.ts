import { operatorsClient } from '../support/operators-client.ts';
import { readOptions } from './options.ts';
import { runDemo } from './run-demo.ts';
import { reachStack } from './stack.ts';

/** What a shell gives for a program ended by SIGINT. */
const INTERRUPTED = 130;

const options = readOptions(process.argv.slice(2));
const interrupt = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    if (!interrupt.signal.aborted) console.log('\nstopping …');
    interrupt.abort();
  });
}

// Everything was stopped by now; whatever a bundler or an emulator has left open in this process must not hold it.
process.exit(await run());

async function run(): Promise<number> {
  try {
    const stack = await reachStack(options, console.log);
    try {
      interrupt.signal.throwIfAborted();
      const store = operatorsClient({
        url: stack.url,
        datastore: 'trips',
        ...(stack.sign && { sign: stack.sign }),
        // The demo repeats by itself, to count it, and gives up requests in hand when interrupted.
        attempts: 1,
        signal: interrupt.signal,
      });
      const failed = await runDemo({
        store,
        options,
        readers: stack.readers,
        signal: interrupt.signal,
        print: console.log,
      });
      return failed === 0 ? 0 : 1;
    } finally {
      await stack.stop();
    }
  } catch (error) {
    if (interrupt.signal.aborted) return INTERRUPTED;
    console.error(`demo: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

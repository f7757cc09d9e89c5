import { schemalessClient } from '../../../shared/client/client.ts';
import { inspect, type Aftermath } from '../aftermath.ts';
import { BATCHES_AND_REPEATS } from '../load/cell-source.ts';
import { allWritten, type Written } from '../load/ledger.ts';
import { startLoad } from '../load/start-load.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { DATASTORE } from '../../support/store-access.ts';
import type { StackProcess } from '../../support/processes/stack-process.ts';
import { grouped } from '../fault-run.ts';

export type StackUnderTestOptions = Pick<RunWorld, 'seed' | 'history' | 'signal' | 'say'>;

const WRITERS = 8;
const LOAD_PATIENCE_MS = 180_000;

/** A stack that is written to, ended, and started again, with everything that was ever acknowledged. */
export class StackUnderTest implements AsyncDisposable {
  stack: StackProcess | undefined;
  readonly #options: StackUnderTestOptions;
  readonly #written: Written[] = [];

  constructor(options: StackUnderTestOptions) {
    this.#options = options;
  }

  /**
   * Writes until so many more cells are acknowledged, then ends the stack with the writers still at it. Returns how
   * many answers were `buffered`.
   */
  async writeAndEnd(part: string, cells: number, end: (stack: StackProcess) => Promise<void>): Promise<number> {
    const { seed, history } = this.#options;
    const stack = this.#running();
    using load = startLoad(
      {
        target: { kind: 'http', url: stack.url },
        writers: WRITERS,
        seed: `${seed}/${part}`,
        cells: BATCHES_AND_REPEATS,
        run: `restart/${part}`,
        history,
      },
      this.#options,
    );
    await load.ready;
    await load.untilAcked(cells, LOAD_PATIENCE_MS);
    await end(stack);
    const { written } = await load.stop();
    this.#written.push(written);
    return written.outcomes.buffered;
  }

  /** Holds everything that was acknowledged so far against what is there. */
  async inspect(): Promise<Aftermath> {
    const stack = this.#running();
    const datastore = schemalessClient({ url: stack.url, datastore: DATASTORE });
    const [{ groups }, { signal }] = [stack, this.#options];
    const aftermath = await inspect({ datastore, groups, written: allWritten(this.#written), signal });
    const { lost, acked, drainSeconds } = aftermath;
    this.#options.say(
      `started again: ${lost} of ${grouped(acked)} lost, buffer empty after ${drainSeconds.toFixed(1)} s`,
    );
    return aftermath;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // After a clean stop there is nothing left to kill.
    await this.stack?.killAll().catch(() => undefined);
  }

  #running(): StackProcess {
    if (!this.stack) throw new Error('no stack was started');
    return this.stack;
  }
}

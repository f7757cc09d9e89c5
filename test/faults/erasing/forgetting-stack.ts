import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sendCommand } from '../../../infra/local/control/control-client.ts';
import type { StackStatus } from '../../../infra/local/control/status.ts';
import { writeFiles } from '../../infra/support/write-files.ts';
import { CommandProcess } from '../../support/files/command-process.ts';
import { lookUntil } from '../../support/look-until.ts';
import { operatorsClient, type OperatorsClient } from '../../support/operators-client.ts';
import type { StackProcess } from '../../support/processes/stack-process.ts';
import type { RunWorld } from '../fault-run.ts';
import { verifyOnce, type IndexVerdict } from '../soak/verify-index.ts';
import { controlStack, startProduct } from '../stack-program.ts';
import { DEFINITIONS, FORGOTTEN } from './clinic.ts';

const NAME = 'stack';
/** Fewer would buffer no write. */
const GROUPS = 3;
/** Copies of buffered writes are kept once they are drained: more places where bodies are. */
const KEEP_MINUTES = 60;
const VERIFY_MS = 120_000;

/** What `npm start` runs, with a datastore that has sealed fields, indexes and a trigger. */
export class ForgettingStack implements AsyncDisposable {
  readonly world: RunWorld;
  readonly data: string;
  readonly exports: string;
  readonly stack: StackProcess;
  readonly options: { readonly url: string; readonly datastore: string };

  private constructor(world: RunWorld, stack: StackProcess) {
    this.world = world;
    this.stack = stack;
    this.data = join(world.folder, NAME);
    this.exports = join(world.folder, 'exports');
    mkdirSync(this.exports);
    this.options = { url: stack.url, datastore: FORGOTTEN };
  }

  static async start(world: RunWorld): Promise<ForgettingStack> {
    const datastores = writeFiles(join(world.folder, 'datastores'), DEFINITIONS);
    const flags = { datastores, groups: GROUPS, 'server-size': 'small', 'keep-copies': KEEP_MINUTES };
    return new ForgettingStack(world, await startProduct(world, NAME, flags));
  }

  client(): OperatorsClient {
    return operatorsClient(this.options);
  }

  async control(...parameters: readonly string[]): Promise<void> {
    await controlStack(this.data, ...parameters);
  }

  async #nodes(): Promise<StackStatus['nodes']> {
    return ((await sendCommand(this.data, 'status')) as StackStatus).nodes;
  }

  /** kill -9 of the writer of the nth group; it is started again, or a reader is promoted. */
  async killWriter(number: number): Promise<void> {
    const nodes = await this.#nodes();
    const writer = nodes.filter(({ role }) => role === 'writer')[number];
    if (writer) await sendCommand(this.data, 'kill', writer.node);
  }

  async untilAllRun(): Promise<void> {
    const areRunning = async () => (await this.#nodes()).every(({ state }) => state === 'running');
    await lookUntil(areRunning, (are) => are, { pollMs: 500, patienceMs: VERIFY_MS, signal: this.world.signal });
  }

  async export(): Promise<void> {
    const parameters = ['export', join(this.exports, 'all'), '--compression', 'none'];
    const { code, stderr } = await new CommandProcess(this.options.url, FORGOTTEN, parameters).ended;
    if (code !== 0) throw new Error(`export ended with ${code}: ${stderr}`);
  }

  verify(index: string, ...flags: readonly string[]): Promise<IndexVerdict> {
    return verifyOnce(this.data, index, '--datastore', FORGOTTEN, ...flags);
  }

  async indexInTheEnd(index: string): Promise<IndexVerdict> {
    const patience = { pollMs: 2000, patienceMs: VERIFY_MS, signal: this.world.signal };
    return await lookUntil(
      () => this.verify(index),
      ({ problems }) => problems === 0,
      patience,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stack.stop();
  }
}

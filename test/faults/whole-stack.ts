import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sendCommand } from '../../infra/local/control/control-client.ts';
import type { StackStatus } from '../../infra/local/control/status.ts';
import { isRunning } from '../../infra/local/platform/process-table.ts';
import { CommandProcess, type CommandEnd } from '../support/files/command-process.ts';
import { pollUntil } from '../support/poll-until.ts';
import { operatorsClient, type OperatorsClient } from '../support/operators-client.ts';
import { startProcess } from '../support/processes/killable-process.ts';
import { processTree } from '../support/processes/process-tree.ts';
import type { StackProcess } from '../support/processes/stack-process.ts';
import type { RunWorld } from '../support/run-world.ts';
import { DATASTORE, type GroupAccess } from '../support/store-access.ts';
import { comes } from '../support/until.ts';
import { inspect, type Aftermath } from './aftermath.ts';
import type { Written } from './load/ledger.ts';
import type { MixedCounts, MixedLoadOptions } from './soak/mixed-load.ts';
import { settle, type Settled } from './soak/settle.ts';
import type { SoakProgress } from './soak/soak-load.ts';
import { controlStack } from './stack-program.ts';

const LOAD = new URL('soak/soak-load.ts', import.meta.url);
const VERIFY = fileURLToPath(new URL('../../infra/local/commands/verify-index.ts', import.meta.url));
const LINE =
  /: (?<rows>\d+) rows, (?<entries>\d+) entries: (?<missing>\d+) missing, (?<extra>\d+) extra, (?<wrong>\d+) wrong/u;
const END_MS = 30_000;
/** The time until every server is in its role again. */
const RUN_MS = 120_000;

/** The comparison of an index with its cells. */
export interface IndexVerdict {
  readonly rows: number;
  readonly entries: number;
  /** Entries that are missing, extra or wrong. */
  readonly problems: number;
}

type Starting = () => Promise<StackProcess>;

/** A whole local stack of a run: reached, loaded and judged as its users and operators do; ended with kill -9. */
export class WholeStack implements AsyncDisposable {
  readonly world: RunWorld;
  readonly data: string;
  readonly #datastore: string;
  #start: Starting;
  #process: StackProcess;

  private constructor(world: RunWorld, name: string, datastore: string, start: Starting, running: StackProcess) {
    this.world = world;
    this.data = join(world.folder, name);
    this.#datastore = datastore;
    this.#start = start;
    this.#process = running;
  }

  /** @param name of its data folder, also for `start` */
  static async start(world: RunWorld, name: string, start: Starting, datastore = DATASTORE): Promise<WholeStack> {
    return new WholeStack(world, name, datastore, start, await start());
  }

  get process(): StackProcess {
    return this.#process;
  }

  get groups(): readonly GroupAccess[] {
    return this.#process.groups;
  }

  /** Starts it after it has ended. */
  async startAgain(start = this.#start): Promise<void> {
    this.#start = start;
    this.#process = await start();
  }

  client(): OperatorsClient {
    return operatorsClient({ url: this.#process.url, datastore: this.#datastore });
  }

  async status(): Promise<StackStatus> {
    return (await sendCommand(this.data, 'status')) as StackStatus;
  }

  async send(command: string, argument: string): Promise<void> {
    await sendCommand(this.data, command, argument);
  }

  /** Runs `npm run local -- …`. */
  async control(...parameters: readonly string[]): Promise<void> {
    await controlStack(this.data, ...parameters);
  }

  /** Runs `schemaless …`. */
  async command(...parameters: readonly string[]): Promise<CommandEnd> {
    return new CommandProcess(this.#process.url, this.#datastore, parameters).ended;
  }

  async wait(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.world.signal });
  }

  /** Waits until every server is in its role, and returns the stack's status then. */
  async untilAllRun(): Promise<StackStatus> {
    const isBack = ({ nodes }: StackStatus): boolean => nodes.every(({ state }) => state === 'running');
    const patience = { pollMs: 250, patienceMs: RUN_MS, signal: this.world.signal };
    const status = await pollUntil(() => this.status(), isBack, patience);
    if (isBack(status)) return status;
    throw new Error(`servers did not come back: ${JSON.stringify(status.nodes)}`);
  }

  /** Writes, reads and queries during a task. Returns the acknowledged cells, the requests and the result. */
  async loaded<T>(
    seed: string,
    shards: number,
    meanwhile: () => Promise<T>,
  ): Promise<Written & { readonly counts: MixedCounts; readonly done: T }> {
    const options = { url: this.#process.url, seed, shards };
    using load = startProcess<MixedLoadOptions, SoakProgress>(LOAD, this.world.folder, options);
    await load.ready;
    const done = await meanwhile();
    this.world.signal.throwIfAborted();
    await load.stop();
    const { written, counts, wrongExamples = [] } = load.progress ?? {};
    if (!written || !counts) throw new Error('the load handed nothing over');
    return {
      ...written,
      counts,
      done,
      // Cells that a promoted reader or a restored group lacks come back at other added ids.
      acked: written.acked.map((cell) => ({ ...cell, added_id: 0 })),
      wrongExamples: [...written.wrongExamples, ...wrongExamples],
    };
  }

  settle(patienceMs: number): Promise<Settled> {
    return settle(this.data, this.client(), patienceMs, this.world.signal);
  }

  inspect(written: Written): Promise<Aftermath> {
    return inspect({ datastore: this.client(), groups: this.groups, written, signal: this.world.signal });
  }

  /** Runs `npm run verify-index`. @param flags further ones */
  async verify(index: string, ...flags: readonly string[]): Promise<IndexVerdict> {
    const args = [VERIFY, index, '--data', this.data, '--datastore', this.#datastore, ...flags];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await once(child, 'close');
    const counted = LINE.exec(output)?.groups;
    if (!counted) throw new Error(`verify-index said: ${output}`);
    const count = (name: string): number => Number(counted[name]);
    return {
      rows: count('rows'),
      entries: count('entries'),
      problems: count('missing') + count('extra') + count('wrong'),
    };
  }

  /** Verifies until nothing is wrong or the time is over: the repair restores entries that a failure omitted. */
  async verifyInTheEnd(index: string, patienceMs: number): Promise<IndexVerdict> {
    const isClean = ({ problems }: IndexVerdict): boolean => problems === 0;
    return await pollUntil(() => this.verify(index), isClean, { pollMs: 2000, patienceMs, signal: this.world.signal });
  }

  /** Kills everything (kill -9); after a clean stop nothing is left. Large processes take a moment to end. */
  async [Symbol.asyncDispose](): Promise<void> {
    const tree = processTree(this.#process.pid);
    await this.#process.killAll().catch(() => undefined);
    await comes(() => !tree.some(({ pid }) => isRunning(pid)), { pollMs: 100, patienceMs: END_MS });
  }
}

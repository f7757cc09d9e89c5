import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getAll } from '../../../shared/client/get-all.ts';
import { CommandProcess, type CommandEnd } from '../../support/files/command-process.ts';
import { operatorsClient, type OperatorsClient } from '../../support/operators-client.ts';
import { startProcess } from '../../support/processes/killable-process.ts';
import type { StackProcess } from '../../support/processes/stack-process.ts';
import { DATASTORE } from '../../support/store-access.ts';
import { inspect, type Aftermath } from '../aftermath.ts';
import type { RunWorld, Share } from '../fault-run.ts';
import type { Written } from '../load/ledger.ts';
import type { MixedLoadOptions } from '../soak/mixed-load.ts';
import { settle, type Rest } from '../soak/settle.ts';
import type { SoakProgress } from '../soak/soak-load.ts';
import { verifyInTheEnd, verifyOnce, type IndexVerdict } from '../soak/verify-index.ts';
import { controlStack, startProduct } from '../stack-program.ts';

const SHARDS = 24;
const INDEX = 'driver_partner_index';
const LOAD = new URL('../soak/soak-load.ts', import.meta.url);
/** For the repair to notice that logs were cut, and to compare every index whole; for trips to be billed; for the rest. */
const PATIENCE_MS = 120_000;
const POLL_MS = 1000;

export class RestoredStack implements AsyncDisposable {
  readonly data: string;
  readonly world: RunWorld;
  readonly #name: string;
  readonly #start: () => Promise<StackProcess>;
  #stack: StackProcess;

  private constructor(world: RunWorld, name: string, start: () => Promise<StackProcess>, stack: StackProcess) {
    this.data = join(world.folder, name);
    this.world = world;
    this.#name = name;
    this.#start = start;
    this.#stack = stack;
  }

  static async start(world: RunWorld, name: string, keepMinutes: number): Promise<RestoredStack> {
    const start = () => startProduct(world, name, { shards: SHARDS, 'keep-copies': keepMinutes });
    return new RestoredStack(world, name, start, await start());
  }

  get stack(): StackProcess {
    return this.#stack;
  }

  client(): OperatorsClient {
    return operatorsClient({ url: this.#stack.url, datastore: DATASTORE });
  }

  async wait(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.world.signal });
  }

  /** Writes while something is done. Returns what was acknowledged. */
  async written(part: string, meanwhile: () => Promise<void>): Promise<Written> {
    const { folder, seed } = this.world;
    const options = { url: this.#stack.url, seed: `${seed}/${this.#name}/${part}`, shards: SHARDS };
    using load = startProcess<MixedLoadOptions, SoakProgress>(LOAD, folder, options);
    await load.ready;
    await meanwhile();
    await load.stop();
    const { written, wrongExamples = [] } = load.progress ?? {};
    if (!written) throw new Error('the load handed nothing over');
    return {
      ...written,
      // What a group lost comes back at other added ids.
      acked: written.acked.map((cell) => ({ ...cell, added_id: 0 })),
      wrongExamples: [...written.wrongExamples, ...wrongExamples],
    };
  }

  async control(...parameters: readonly string[]): Promise<void> {
    await controlStack(this.data, ...parameters);
  }

  async command(...parameters: readonly string[]): Promise<CommandEnd> {
    return new CommandProcess(this.#stack.url, DATASTORE, parameters).ended;
  }

  async restore(snapshot: string): Promise<void> {
    await this.#stack.stop();
    await this.control('restore', snapshot, '--yes');
    this.#stack = await this.#start();
  }

  settle(): Promise<Rest> {
    return settle(this.data, this.client(), PATIENCE_MS, this.world.signal);
  }

  inspect(written: Written): Promise<Aftermath> {
    return inspect({ datastore: this.client(), groups: this.stack.groups, written, signal: this.world.signal });
  }

  /** Once nothing is wrong any more, or there is no patience left. */
  async verifiedIndex(): Promise<Share> {
    return shareOf(await verifyInTheEnd(this.data, INDEX, PATIENCE_MS, this.world.signal));
  }

  async indexNow(): Promise<Share> {
    return shareOf(await verifyOnce(this.data, INDEX));
  }

  /** Trips among these cells that no consumer has billed; waits for that. */
  async unbilled({ acked }: Pick<Written, 'acked'>, patienceMs = PATIENCE_MS): Promise<Share> {
    const trips = [...new Set(acked.filter(({ column_name }) => column_name === 'BASE').map(({ row_key }) => row_key))];
    let waiting: readonly string[] = trips;
    for (const end = performance.now() + patienceMs; waiting.length > 0 && performance.now() < end;) {
      const keys = waiting.map((row_key) => ({ row_key, column_name: 'STATUS' }));
      const items = await getAll(this.client(), keys);
      waiting = waiting.filter((_, position) => {
        const item = items[position];
        return !(item && 'body' in item && Object(item.body).is_completed === true);
      });
      if (waiting.length > 0) await this.wait(POLL_MS);
    }
    return { wrong: waiting.length, of: trips.length };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.killAll().catch(() => undefined);
  }
}

const shareOf = ({ problems, rows }: IndexVerdict): Share => ({ wrong: problems, of: rows });

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { schemalessClient, type SchemalessClient } from '../../../shared/client/client.ts';
import { getAll } from '../../../shared/client/get-all.ts';
import { CommandProcess, type CommandEnd } from '../../support/files/command-process.ts';
import { startProcess } from '../../support/processes/killable-process.ts';
import type { StackProcess } from '../../support/processes/stack-process.ts';
import { DATASTORE } from '../../support/store-access.ts';
import type { RunWorld, Share } from '../fault-run.ts';
import type { Written } from '../load/ledger.ts';
import type { MixedLoadOptions } from '../soak/mixed-load.ts';
import type { SoakProgress } from '../soak/soak-load.ts';
import { verifyInTheEnd, verifyOnce } from '../soak/verify-index.ts';
import { startProduct } from '../stack-program.ts';

const SHARDS = 24;
const INDEX = 'driver_partner_index';
const LOAD = new URL('../soak/soak-load.ts', import.meta.url);
const CONTROL = fileURLToPath(new URL('../../../infra/local/commands/control.ts', import.meta.url));
/** For the repair to notice that logs were cut, and to compare every index whole. */
const VERIFY_MS = 120_000;
const BILL_MS = 120_000;
const POLL_MS = 1000;

const run = promisify(execFile);

/** A stack that can be set back, and what is asked of it. */
export class RestoredStack implements AsyncDisposable {
  readonly data: string;
  readonly #world: RunWorld;
  readonly #name: string;
  readonly #keepMinutes: number;
  #stack: StackProcess;

  private constructor(world: RunWorld, name: string, keepMinutes: number, stack: StackProcess) {
    this.data = join(world.folder, name);
    this.#world = world;
    this.#name = name;
    this.#keepMinutes = keepMinutes;
    this.#stack = stack;
  }

  static async start(world: RunWorld, name: string, keepMinutes: number): Promise<RestoredStack> {
    return new RestoredStack(world, name, keepMinutes, await startStack(world, name, keepMinutes));
  }

  get keepsCopies(): boolean {
    return this.#keepMinutes > 0;
  }

  get stack(): StackProcess {
    return this.#stack;
  }

  client(): SchemalessClient {
    return schemalessClient({ url: this.#stack.url, datastore: DATASTORE });
  }

  /** Writes while something is done. Returns what was acknowledged. */
  async written(part: string, meanwhile: () => Promise<void>): Promise<Written> {
    const { folder, seed } = this.#world;
    const options = { url: this.#stack.url, seed: `${seed}/${this.#name}/${part}`, shards: SHARDS };
    using load = startProcess<MixedLoadOptions, SoakProgress>(LOAD, folder, options);
    await load.ready;
    await meanwhile();
    await load.stop();
    const { written, wrongExamples = [] } = load.progress ?? {};
    if (!written) throw new Error('the load handed nothing over');
    // What a group lost comes back at other added ids.
    return {
      ...written,
      acked: written.acked.map((cell) => ({ ...cell, added_id: 0 })),
      wrongExamples: [...written.wrongExamples, ...wrongExamples],
    };
  }

  /** `npm run local -- …` of this stack. */
  async control(...parameters: readonly string[]): Promise<void> {
    await run(process.execPath, [CONTROL, ...parameters, '--data', this.data]);
  }

  async command(...parameters: readonly string[]): Promise<CommandEnd> {
    return new CommandProcess(this.#stack.url, DATASTORE, parameters).ended;
  }

  /** Stops it, sets all of it back, and starts it again. */
  async restore(snapshot: string): Promise<void> {
    await this.#stack.stop();
    await this.control('restore', snapshot, '--yes');
    this.#stack = await startStack(this.#world, this.#name, this.#keepMinutes);
  }

  /** Once nothing is wrong any more, or there is no patience left. */
  async verifiedIndex(): Promise<Share> {
    const { problems, rows } = await verifyInTheEnd(this.data, INDEX, VERIFY_MS, this.#world.signal);
    return { wrong: problems, of: rows };
  }

  async indexNow(): Promise<Share> {
    const { problems, rows } = await verifyOnce(this.data, INDEX);
    return { wrong: problems, of: rows };
  }

  /** Trips among these cells that no consumer has billed; waits for that, two minutes unless told otherwise. */
  async unbilled({ acked }: Written, patienceMs = BILL_MS): Promise<Share> {
    const trips = [...new Set(acked.filter(({ column_name }) => column_name === 'BASE').map(({ row_key }) => row_key))];
    let waiting: readonly string[] = trips;
    for (const end = performance.now() + patienceMs; waiting.length > 0 && performance.now() < end;) {
      const items = await getAll(
        this.client(),
        waiting.map((row_key) => ({ row_key, column_name: 'STATUS' })),
      );
      waiting = waiting.filter((_, position) => {
        const item = items[position];
        return !(item && 'body' in item && Object(item.body).is_completed === true);
      });
      if (waiting.length > 0) await sleep(POLL_MS, undefined, { signal: this.#world.signal });
    }
    return { wrong: waiting.length, of: trips.length };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.killAll().catch(() => undefined);
  }
}

function startStack(world: RunWorld, name: string, keepMinutes: number): Promise<StackProcess> {
  return startProduct(world, name, { shards: SHARDS, 'keep-copies': keepMinutes });
}

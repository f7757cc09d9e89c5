import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster, type Cluster, type ClusterOptions } from '../support/cluster.ts';
import type { RunWorld } from '../support/run-world.ts';
import { openStore, PATIENT, type OpenStore, type StoreAccess } from '../support/store-access.ts';
import { killNode, untilAllRun, type WhoseServers } from '../support/nodes.ts';
import { comes, type Patience } from '../support/until.ts';
import { startDrain, type Drain } from '../support/workers/start-drain.ts';
import type { DrainInput } from '../support/workers/drain-thread.ts';
import { grouped } from '../support/text-table.ts';
import { inspect, type Aftermath } from './aftermath.ts';
import type { Written } from './load/ledger.ts';
import { startLoad, type Load, type LoadOptions } from './load/start-load.ts';
import { withoutIt, type PROTECTIONS } from './without/protections.ts';

/** The differences of a load from the stage's own. */
export interface StageLoad extends Omit<LoadOptions, 'target' | 'seed'>, Partial<Pick<LoadOptions, 'target' | 'seed'>> {
  readonly access?: StoreAccess;
}

/** Real servers with a datastore, and everything that a run starts there: all of it ends with the stage. */
export class Stage implements AsyncDisposable {
  readonly world: RunWorld;
  /** The name of the run and its part: "kill/control". */
  readonly name: string;
  readonly cluster: Cluster;
  readonly #parts: AsyncDisposableStack;

  private constructor(world: RunWorld, name: string, cluster: Cluster, parts: AsyncDisposableStack) {
    this.world = world;
    this.name = name;
    this.cluster = cluster;
    this.#parts = parts;
  }

  static async start(
    world: RunWorld,
    name: string,
    options: Omit<ClusterOptions, 'folder' | 'engine'>,
  ): Promise<Stage> {
    await using parts = new AsyncDisposableStack();
    const cluster = parts.use(
      await startCluster({ ...options, folder: join(world.folder, name), engine: world.engine }),
    );
    return new Stage(world, name, cluster, parts.move());
  }

  get access(): Cluster['access'] {
    return this.cluster.access;
  }

  get servers(): Cluster['servers'] {
    return this.cluster.servers;
  }

  get engine(): string {
    return this.cluster.engine;
  }

  get say(): RunWorld['say'] {
    return this.world.say;
  }

  /** Returns once it drains. @param varied its own access, settings @default as the scheduled function has them */
  async drain(varied: Partial<DrainInput> = {}): Promise<Drain> {
    const drain = this.use(startDrain({ access: this.access, ...varied }));
    await drain.ready;
    return drain;
  }

  async load({ access = this.access, ...options }: StageLoad): Promise<Load> {
    const load = this.use(
      startLoad({ target: { kind: 'store', access }, seed: `${this.world.seed} ${this.name}`, ...options }, this.world),
    );
    await load.ready;
    return load;
  }

  /** Opens the store in this thread, with the patience that a busy machine needs. */
  async open(varied: Partial<StoreAccess> = {}): Promise<OpenStore> {
    return this.use(await openStore({ ...this.access, sql: PATIENT, ...varied }));
  }

  async wait(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.world.signal });
  }

  async comes(isSo: () => boolean | Promise<boolean>, patience: Omit<Patience, 'signal'>): Promise<boolean> {
    return await comes(isSo, { ...patience, signal: this.world.signal });
  }

  async kill(group: string): Promise<string> {
    return await killNode(this.servers, group);
  }

  groupInTurn(number: number): string {
    const { groups } = this.servers;
    return groups[number % groups.length]?.name ?? '';
  }

  async untilAllRun(whose?: WhoseServers): Promise<void> {
    await untilAllRun(this.servers, this.world.signal, whose);
  }

  /** Returns its access without a protection, for a control. */
  without(protection: keyof typeof PROTECTIONS): StoreAccess {
    return { ...this.access, wrap: withoutIt(protection) };
  }

  use<Part extends Disposable | AsyncDisposable>(part: Part): Part {
    return this.#parts.use(part);
  }

  /** Waits for the buffers, and compares the acknowledged cells with the stored ones. */
  async inspect(written: Written): Promise<Aftermath> {
    const { say, signal } = this.world;
    say(`${grouped(written.acked.length)} cells acknowledged; waiting for the buffers, then reading all back`);
    const { datastore } = await this.open();
    return inspect({ datastore, groups: this.access.groups, written, signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

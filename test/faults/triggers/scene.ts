import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TriggerDefinition } from '../../../shared/definitions/definitions.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { sqsTriggerQueues } from '../../../shared/triggers/state/sqs-trigger-queues.ts';
import { triggerManagement } from '../../../shared/triggers/manage/trigger-management.ts';
import type { TriggerOperations } from '../../../shared/contract/trigger-operations.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { startProcess, type KillableProcess } from '../../support/processes/killable-process.ts';
import { RestartedProcess } from '../races/restarted-process.ts';
import { startWorker, type RunningWorker } from '../../support/workers/running-worker.ts';
import type { CellWriters, WritersProgress } from './cell-writers.ts';
import type { ConsumerInput, ConsumerProgress } from './consumer-process.ts';
import { GOOD_CONSUMER, type ConsumerVariation } from './consumer-variation.ts';
import { DeliveryLog, type Delivery } from './deliveries.ts';
import { isWhole, judgeDeliveries, type DeliveryVerdict } from './judge-deliveries.ts';
import { loggedCells, type LoggedCell } from './logged-cells.ts';
import type { TailerInput, TailerOptions, TailerProgress } from '../../support/triggers/tailer-process.ts';
import type { TriggerStage } from '../../support/triggers/trigger-stage.ts';
import { openTriggered, type TriggeredAccess, type TriggeredStore } from '../../support/triggers/triggered-access.ts';

export interface SceneOptions {
  /** Of its datastore: must be new for each scene of a stage. */
  readonly name: string;
  readonly definition?: Partial<TriggerDefinition>;
  /** So many receipts move a message to the last queue. @default it is never moved */
  readonly receipts?: number;
  /** Its groups are reached by endpoints that follow a promotion. @default false */
  readonly promotes?: boolean;
  /** One process each, in a slot of its own; each of its lives may be made otherwise. @default two that fare well */
  readonly tailers?: readonly (TailerOptions | ((life: number) => TailerOptions))[];
  /** Processes. @default 1 */
  readonly consumers?: number;
  readonly consumer?: Partial<ConsumerVariation>;
  /** After each write of each of the writers. @default 60 */
  readonly pauseMs?: number;
  /** Share of the cells that are poison. @default 0 */
  readonly poison?: number;
}

const TAILER = new URL('../../support/triggers/tailer-process.ts', import.meta.url);
const CONSUMER = new URL('consumer-process.ts', import.meta.url);

/** Tailers that are silent for so long are taken for dead: less time is spent waiting for that. */
export const QUICK_LEASES = { heartbeatMs: 300, silenceMs: 1500 };
/** Throughout. */
export const WRITERS = 8;
const PAUSE_MS = 60;
const POLL_MS = 200;
/** Something that is to come is given up when nothing has come for so long: retries wait for seconds. */
const PATIENCE_MS = 20_000;
const OPERATOR_TRIES = 10;
/** Whatever comes. */
const LONGEST_MS = 90_000;

export interface FurtherTailer extends TailerOptions {
  /** One worker each. */
  readonly slots: readonly number[];
}

/**
 * A datastore that is written to, the tailers of its trigger, and the trigger's consumers: real processes, one by one
 * to be killed.
 */
export class Scene implements AsyncDisposable {
  readonly access: TriggeredAccess;
  /** In this process, to look at it and to operate it. */
  readonly store: TriggeredStore;
  readonly tailers: readonly RestartedProcess<TailerInput, TailerProgress>[];
  consumers: readonly KillableProcess<ConsumerProgress>[];
  readonly #world: RunWorld;
  readonly #startWriters: () => RunningWorker<'stop', WritersProgress, WritersProgress>;
  #writers: RunningWorker<'stop', WritersProgress, WritersProgress> | undefined;
  readonly #deliveries: DeliveryLog;
  readonly #sends: string;
  readonly #startTailer: (options: FurtherTailer) => KillableProcess<TailerProgress>;
  readonly #startConsumer: (variation: Partial<ConsumerVariation>, place: number) => KillableProcess<ConsumerProgress>;
  readonly #parts = new AsyncDisposableStack();

  private constructor(
    world: RunWorld,
    stage: TriggerStage,
    store: TriggeredStore,
    { access, ...options }: SceneOptions & { readonly access: TriggeredAccess },
  ) {
    const { name, tailers = [{}, {}], consumers = 1, consumer = {}, pauseMs = PAUSE_MS, poison = 0 } = options;
    const { seed } = world;
    const file = join(stage.folder, `${name}.deliveries`);
    this.#sends = join(stage.folder, `${name}.sends`);
    this.#world = world;
    this.access = access;
    this.store = this.#parts.use(store);
    this.#deliveries = this.#parts.use(new DeliveryLog(file));
    const tailerInput = (given: TailerOptions, slots: readonly number[], life: number): TailerInput => ({
      ...given,
      access,
      slots,
      sends: this.#sends,
      seed: `${seed} ${slots.join()} ${life}`,
    });
    this.tailers = tailers.map((tailer, slot) =>
      this.#parts.use(
        new RestartedProcess<TailerInput, TailerProgress>(TAILER, stage.folder, (life) =>
          tailerInput(typeof tailer === 'function' ? tailer(life) : tailer, [slot], life),
        ),
      ),
    );
    this.#startTailer = ({ slots, ...given }) =>
      this.#parts.use(startProcess<TailerInput, TailerProgress>(TAILER, stage.folder, tailerInput(given, slots, 0)));
    this.#startConsumer = (variation, place) => {
      const input: ConsumerInput = {
        access,
        variation: { ...GOOD_CONSUMER, ...variation },
        deliveries: file,
        seed: `${seed} ${place}`,
      };
      return this.#parts.use(startProcess<ConsumerInput, ConsumerProgress>(CONSUMER, stage.folder, input));
    };
    this.consumers = Array.from({ length: consumers }, (_, place) => this.#startConsumer(consumer, place));
    this.#startWriters = () =>
      this.#parts.use(
        startWorker<CellWriters, 'stop', WritersProgress, WritersProgress>(
          new URL('cell-writers.ts', import.meta.url),
          { access, writers: WRITERS, seed, pauseMs, poison },
        ),
      );
  }

  /** Returns once everybody works. */
  static async start(world: RunWorld, stage: TriggerStage, options: SceneOptions): Promise<Scene> {
    const access = await stage.define(options.name, options);
    const scene = new Scene(world, stage, await openTriggered(access, { connections: 2 }), { ...options, access });
    try {
      await Promise.all([...scene.tailers, ...scene.consumers].map(({ ready }) => ready));
      // Last, so that no backlog waits for the others to be started.
      scene.#writers = scene.#startWriters();
      await scene.#writers.ready;
      return scene;
    } catch (error) {
      await scene[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Cells stored so far, about. */
  get stored(): number {
    return this.#writers?.progress?.stored ?? 0;
  }

  /** In the order in which they came. */
  deliveries(): readonly Delivery[] {
    return this.#deliveries.read();
  }

  /**
   * Messages that the queue took, and how many of them it had taken before: what a tailer said right before it died is
   * here.
   */
  sends(): { readonly sent: number; readonly again: number } {
    const sent = existsSync(this.#sends) ? readFileSync(this.#sends, 'utf8').trimEnd().split('\n') : [];
    return { sent: sent.length, again: sent.length - new Set(sent).size };
  }

  /** Calls of the function so far. */
  called(): { readonly calls: number; readonly failed: number } {
    const said = this.consumers.map(({ progress }) => progress);
    return {
      calls: said.reduce((sum, progress) => sum + (progress?.calls ?? 0), 0),
      failed: said.reduce((sum, progress) => sum + (progress?.failed ?? 0), 0),
    };
  }

  /** The sum of what each life of each tailer said last. */
  tailed(what: keyof TailerProgress): number {
    return this.tailers.flatMap(({ progress }) => progress).reduce((sum, progress) => sum + progress[what], 0);
  }

  /** One more, or a successor, which whoever starts it ends. Returns once it works. */
  async startTailer(options: FurtherTailer): Promise<KillableProcess<TailerProgress>> {
    const tailer = this.#startTailer(options);
    await tailer.ready;
    return tailer;
  }

  /** Ends the consumers in order, and starts others whose function is made otherwise. */
  async replaceConsumers(variation: Partial<ConsumerVariation>): Promise<void> {
    await Promise.all(this.consumers.map((consumer) => consumer.stop()));
    this.consumers = this.consumers.map((_, place) => this.#startConsumer(variation, place));
    await Promise.all(this.consumers.map(({ ready }) => ready));
  }

  async stopWriters(): Promise<void> {
    await this.#writers?.stop('stop');
  }

  /** The trigger as its operator has it. What DynamoDB, or a group, does not answer is asked again. */
  async operate<T>(task: (operations: TriggerOperations, trigger: string) => Promise<T>): Promise<T> {
    const { context, stateTable, sqs, name } = this.store;
    const operations = await triggerManagement({ context, stateTable, queues: sqsTriggerQueues(sqs) }).triggers(name);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await task(operations, this.access.trigger);
      } catch (error) {
        if (attempt === OPERATOR_TRIES || !(error instanceof SchemalessError) || error.retry !== 'later') throw error;
        await sleep(POLL_MS, undefined, { signal: this.#world.signal });
      }
    }
  }

  logged(): Promise<readonly LoggedCell[]> {
    return loggedCells(this.access.groups, this.access.datastore);
  }

  /**
   * Waits until every cell that is wanted was delivered in order, or nothing more comes.
   *
   * @param patienceMs how long without any delivery is too long
   */
  async settle({
    patienceMs = PATIENCE_MS,
    isDue = () => true,
  }: { readonly patienceMs?: number; readonly isDue?: (cell: LoggedCell) => boolean } = {}): Promise<DeliveryVerdict> {
    const due = (await this.logged()).filter(isDue);
    const judge = (): DeliveryVerdict => judgeDeliveries(due, this.deliveries());
    await this.untilQuiet(
      () => isWhole(judge()),
      () => this.deliveries().length,
      patienceMs,
    );
    return judge();
  }

  /** Waits until it is done, or what is counted does not rise any more for so long. */
  async untilQuiet(isDone: () => boolean, count: () => number, patienceMs: number): Promise<void> {
    const start = performance.now();
    let [known, since] = [-1, start];
    while (!isDone()) {
      const now = performance.now();
      if (count() > known) [known, since] = [count(), now];
      if (now - since > patienceMs || now - start > LONGEST_MS) return;
      await sleep(POLL_MS, undefined, { signal: this.#world.signal });
    }
  }

  /** Lets the load go on for so long, and until so many cells are stored. */
  async load(seconds: number, cells: number): Promise<void> {
    await this.wait(seconds);
    await this.until(`${cells} cells are stored`, () => this.stored >= cells);
  }

  /** Lets the load go on for so long. */
  async wait(seconds: number): Promise<void> {
    await sleep(seconds * 1000, undefined, { signal: this.#world.signal });
  }

  /** Waits for something to become true. Throws when it does not. */
  async until(what: string, isTrue: () => boolean | Promise<boolean>, patienceMs = LONGEST_MS): Promise<void> {
    const deadline = performance.now() + patienceMs;
    while (!(await isTrue())) {
      if (performance.now() > deadline)
        throw new Error(`${this.access.datastore}: waited ${patienceMs / 1000} s in vain: ${what}`);
      await sleep(POLL_MS, undefined, { signal: this.#world.signal });
    }
  }

  /** Ends everything in order. Rejects when a part of it failed. */
  async end(): Promise<void> {
    await Promise.all([...this.tailers, ...this.consumers].map((part) => part.stop()));
    await this[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

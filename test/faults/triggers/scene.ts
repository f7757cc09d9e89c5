import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SchemalessError } from '../../../shared/errors.ts';
import { sqsQueues } from '../../../shared/triggers/state/queues.ts';
import { triggerManagement } from '../../../shared/triggers/manage/trigger-management.ts';
import type { TriggerOperations } from '../../../shared/api/triggers.ts';
import { sumOf } from '../fault-run.ts';
import { NotedLines } from '../line-log.ts';
import type { Setting } from './part.ts';
import { until } from '../../support/until.ts';
import { startProcess, type KillableProcess } from '../../support/processes/killable-process.ts';
import { RestartedProcess } from '../indexes/restarted-process.ts';
import { startWorker, type RunningWorker } from '../../support/workers/running-worker.ts';
import type { CellWriters, WritersProgress } from './cell-writers.ts';
import type { ConsumerInput, ConsumerProgress } from './consumer-process.ts';
import {
  GOOD_CONSUMER,
  isWhole,
  judgeDeliveries,
  loggedCells,
  type ConsumerVariation,
  type Delivery,
  type DeliveryVerdict,
  type LoggedCell,
} from './deliveries.ts';
import type { TailerInput, TailerOptions, TailerProgress } from '../../support/triggers/tailer-process.ts';
import { openTriggered, type TriggeredAccess, type TriggeredStore } from '../../support/triggers/triggered-access.ts';

interface SceneOptions {
  /** The name of its datastore: unique on a stage. */
  readonly name: string;
  /** Its groups are reached by endpoints that follow a promotion. @default false */
  readonly promotes?: boolean;
  /** One process each, in its own slot; its lives may differ. @default two without faults */
  readonly tailers?: readonly (TailerOptions | ((life: number) => TailerOptions))[];
  readonly consumers?: number;
  readonly consumer?: Partial<ConsumerVariation>;
  readonly pauseMs?: number;
}

const TAILER = new URL('../../support/triggers/tailer-process.ts', import.meta.url);
const CONSUMER = new URL('consumer-process.ts', import.meta.url);

/** Tailers that are silent for this long are declared dead, which shortens the wait. */
export const QUICK_LEASES = { heartbeatMs: 300, silenceMs: 1500 };
export const WRITERS = 8;
const PAUSE_MS = 60;
const POLL_MS = 200;
/** The time without progress before a wait is given up: retries wait for seconds. */
const PATIENCE_MS = 60_000;
/** The same for a control: nothing more comes in that time. */
const CONTROL_PATIENCE_MS = 6000;
/** The wait after the last message that is sent again. */
const REWIND_PATIENCE_MS = 12_000;
const OPERATOR_TRIES = 10;
const LONGEST_MS = 600_000;

interface FurtherTailer extends TailerOptions {
  readonly slots: readonly number[];
}

interface Concluding {
  readonly isReal?: boolean;
  readonly patienceMs?: number;
}

type Writers = RunningWorker<'stop', WritersProgress, WritersProgress>;

/** A datastore that is written to, the tailers of its trigger, and its consumers: processes that can be killed. */
export class Scene implements AsyncDisposable {
  readonly access: TriggeredAccess;
  readonly store: TriggeredStore;
  readonly tailers: readonly RestartedProcess<TailerInput, TailerProgress>[];
  readonly consumers: readonly KillableProcess<ConsumerProgress>[];
  readonly #setting: Setting;
  readonly #file: string;
  readonly #deliveries: NotedLines<Delivery>;
  #writers: Writers | undefined;
  readonly #parts = new AsyncDisposableStack();

  private constructor(
    setting: Setting,
    store: TriggeredStore,
    access: TriggeredAccess,
    { name, tailers = [{}, {}], consumers = 1, consumer = {} }: SceneOptions,
  ) {
    const { folder } = setting.stage;
    this.#setting = setting;
    this.#file = join(folder, name);
    this.access = access;
    this.store = this.#parts.use(store);
    this.#deliveries = this.#parts.use(new NotedLines<Delivery>(`${this.#file}.deliveries`));
    this.tailers = tailers.map((tailer, slot) =>
      this.#parts.use(
        new RestartedProcess<TailerInput, TailerProgress>(TAILER, folder, (life) =>
          this.#tailerInput({ ...(typeof tailer === 'function' ? tailer(life) : tailer), slots: [slot] }),
        ),
      ),
    );
    this.consumers = Array.from({ length: consumers }, (_, position) => this.#startConsumer(consumer, position));
  }

  static async start(setting: Setting, options: SceneOptions): Promise<Scene> {
    const access = await setting.stage.define(options.name, options);
    const scene = new Scene(setting, await openTriggered(access, { connections: 2 }), access, options);
    try {
      await Promise.all([...scene.tailers, ...scene.consumers].map(({ ready }) => ready));
      await scene.#startWriters(options).ready;
      return scene;
    } catch (error) {
      await scene[Symbol.asyncDispose]();
      throw error;
    }
  }

  #tailerInput(tailer: FurtherTailer): TailerInput {
    return { ...tailer, access: this.access, sends: `${this.#file}.sends` };
  }

  #startConsumer(variation: Partial<ConsumerVariation>, position: number): KillableProcess<ConsumerProgress> {
    const input: ConsumerInput = {
      access: this.access,
      variation: { ...GOOD_CONSUMER, ...variation },
      deliveries: `${this.#file}.deliveries`,
      seed: `${this.#setting.world.seed} ${position}`,
    };
    return this.#parts.use(startProcess(CONSUMER, this.#setting.stage.folder, input));
  }

  #startWriters({ pauseMs = PAUSE_MS }: SceneOptions): Writers {
    const { seed } = this.#setting.world;
    const input: CellWriters = { access: this.access, writers: WRITERS, seed, pauseMs };
    return (this.#writers = this.#parts.use(startWorker(new URL('cell-writers.ts', import.meta.url), input)));
  }

  get stored(): number {
    return this.#writers?.progress?.stored ?? 0;
  }

  deliveries(): readonly Delivery[] {
    return this.#deliveries.read();
  }

  /** Messages that the queue took, also from a tailer that died right then, and how many of them were repeats. */
  sends(): { readonly sent: number; readonly again: number } {
    const file = `${this.#file}.sends`;
    const sent = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
    return { sent: sent.length, again: sent.length - new Set(sent).size };
  }

  called(): { readonly calls: number; readonly failed: number } {
    const output = this.consumers.map(({ progress }) => progress);
    const all = (what: 'calls' | 'failed'): number => sumOf(output.map((progress) => progress?.[what] ?? 0));
    return { calls: all('calls'), failed: all('failed') };
  }

  tailed(what: keyof TailerProgress): number {
    return sumOf(this.tailers.flatMap(({ progress }) => progress.map((output) => output[what])));
  }

  async startTailer(options: FurtherTailer): Promise<KillableProcess<TailerProgress>> {
    const input = this.#tailerInput(options);
    const tailer = this.#parts.use(
      startProcess<TailerInput, TailerProgress>(TAILER, this.#setting.stage.folder, input),
    );
    await tailer.ready;
    return tailer;
  }

  async stopWriters(): Promise<void> {
    await this.#writers?.stop('stop');
  }

  /** Operates the trigger like its operator. Calls that DynamoDB, or a group, does not answer are retried. */
  async operate<T>(task: (operations: TriggerOperations, trigger: string) => Promise<T>): Promise<T> {
    const { context, stateTable, sqs, name } = this.store;
    const operations = await triggerManagement({ context, stateTable, queues: sqsQueues(sqs) }).triggers(name);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await task(operations, this.access.trigger);
      } catch (error) {
        if (attempt === OPERATOR_TRIES || !(error instanceof SchemalessError) || error.retry !== 'later') throw error;
        await this.wait(POLL_MS / 1000);
      }
    }
  }

  logged(): Promise<readonly LoggedCell[]> {
    return loggedCells(this.access.groups, this.access.datastore);
  }

  /** Ends the writers, and waits until every cell was delivered in order, or nothing more comes. */
  async conclude({
    isReal = true,
    patienceMs = isReal ? PATIENCE_MS : CONTROL_PATIENCE_MS,
  }: Concluding = {}): Promise<DeliveryVerdict> {
    await this.stopWriters();
    return await this.#untilWhole(await this.logged(), () => this.deliveries(), patienceMs);
  }

  /** Rewinds the trigger to the start, and judges whether every cell of that time is replayed. */
  async rewindToStart(): Promise<DeliveryVerdict> {
    const due = await this.logged();
    const before = this.deliveries().length;
    await this.operate((operations, trigger) => operations.rewindTrigger({ trigger, to: 'start' }));
    const replays = () =>
      this.deliveries()
        .slice(before)
        .filter(({ replay }) => replay);
    return await this.#untilWhole(due, replays, REWIND_PATIENCE_MS);
  }

  async #untilWhole(
    due: readonly LoggedCell[],
    deliveries: () => readonly Delivery[],
    patienceMs: number,
  ): Promise<DeliveryVerdict> {
    const start = performance.now();
    let [known, since] = [-1, start];
    for (;;) {
      if (isWhole(judgeDeliveries(due, deliveries()))) break;
      const now = performance.now();
      if (deliveries().length > known) [known, since] = [deliveries().length, now];
      if (now - since > patienceMs || now - start > LONGEST_MS) break;
      await this.wait(POLL_MS / 1000);
    }
    return judgeDeliveries(due, deliveries());
  }

  async load(seconds: number, cells: number): Promise<void> {
    await this.wait(seconds);
    await this.until(`${cells} cells are stored`, () => this.stored >= cells);
  }

  async wait(seconds: number): Promise<void> {
    await sleep(seconds * 1000, undefined, { signal: this.#setting.world.signal });
  }

  async until(what: string, isTrue: () => boolean | Promise<boolean>, patienceMs = LONGEST_MS): Promise<void> {
    const { signal } = this.#setting.world;
    await until(`${this.access.datastore}: ${what}`, isTrue, { pollMs: POLL_MS, patienceMs, signal });
  }

  async end(): Promise<void> {
    await Promise.all([...this.tailers, ...this.consumers].map((part) => part.stop()));
    await this[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TriggerDefinition } from '../../../shared/definitions/definitions.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { sqsQueues } from '../../../shared/triggers/state/queues.ts';
import { triggerManagement } from '../../../shared/triggers/manage/trigger-management.ts';
import type { TriggerOperations } from '../../../shared/api/triggers.ts';
import { sumOf } from '../fault-run.ts';
import type { Setting } from './part.ts';
import { until } from '../../support/until.ts';
import { startProcess, type KillableProcess } from '../../support/processes/killable-process.ts';
import { RestartedProcess } from '../indexes/restarted-process.ts';
import { startWorker, type RunningWorker } from '../../support/workers/running-worker.ts';
import type { CellWriters, WritersProgress } from './cell-writers.ts';
import type { ConsumerInput, ConsumerProgress } from './consumer-process.ts';
import {
  DeliveryLog,
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
  /** Of its datastore: must be new for each scene of a stage. */
  readonly name: string;
  readonly definition?: Partial<TriggerDefinition>;
  readonly receipts?: number;
  /** Its groups are reached by endpoints that follow a promotion. @default false */
  readonly promotes?: boolean;
  /** One process each, in a slot of its own; each of its lives may be made otherwise. @default two that fare well */
  readonly tailers?: readonly (TailerOptions | ((life: number) => TailerOptions))[];
  readonly consumers?: number;
  readonly consumer?: Partial<ConsumerVariation>;
  readonly pauseMs?: number;
  readonly poison?: number;
}

const TAILER = new URL('../../support/triggers/tailer-process.ts', import.meta.url);
const CONSUMER = new URL('consumer-process.ts', import.meta.url);

/** Tailers that are silent for so long are taken for dead: less time is spent waiting for that. */
export const QUICK_LEASES = { heartbeatMs: 300, silenceMs: 1500 };
export const WRITERS = 8;
const PAUSE_MS = 60;
const POLL_MS = 200;
/** Something that is to come is given up when nothing has come for so long: retries wait for seconds. */
const PATIENCE_MS = 60_000;
/** The same of a control: nothing more comes by then. */
const CONTROL_PATIENCE_MS = 6000;
/** As long as something is sent again, it is waited for; then for so long. */
const REWIND_PATIENCE_MS = 12_000;
const OPERATOR_TRIES = 10;
const LONGEST_MS = 600_000;

interface FurtherTailer extends TailerOptions {
  readonly slots: readonly number[];
}

interface Settling {
  readonly isReal?: boolean;
  readonly patienceMs?: number;
  readonly isDue?: (cell: LoggedCell) => boolean;
}

type Writers = RunningWorker<'stop', WritersProgress, WritersProgress>;

/** A datastore that is written to, the tailers of its trigger, and its consumers: processes that can be killed. */
export class Scene implements AsyncDisposable {
  readonly access: TriggeredAccess;
  readonly store: TriggeredStore;
  readonly tailers: readonly RestartedProcess<TailerInput, TailerProgress>[];
  consumers: readonly KillableProcess<ConsumerProgress>[];
  readonly #setting: Setting;
  readonly #file: string;
  readonly #deliveries: DeliveryLog;
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
    this.#deliveries = this.#parts.use(new DeliveryLog(`${this.#file}.deliveries`));
    this.tailers = tailers.map((tailer, slot) =>
      this.#parts.use(
        new RestartedProcess<TailerInput, TailerProgress>(TAILER, folder, (life) =>
          this.#tailerInput({ ...(typeof tailer === 'function' ? tailer(life) : tailer), slots: [slot] }, life),
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

  #tailerInput(tailer: FurtherTailer, life: number): TailerInput {
    const seed = `${this.#setting.world.seed} ${tailer.slots.join()} ${life}`;
    return { ...tailer, access: this.access, sends: `${this.#file}.sends`, seed };
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

  #startWriters({ pauseMs = PAUSE_MS, poison = 0 }: SceneOptions): Writers {
    const { seed } = this.#setting.world;
    const input: CellWriters = { access: this.access, writers: WRITERS, seed, pauseMs, poison };
    return (this.#writers = this.#parts.use(startWorker(new URL('cell-writers.ts', import.meta.url), input)));
  }

  get stored(): number {
    return this.#writers?.progress?.stored ?? 0;
  }

  deliveries(): readonly Delivery[] {
    return this.#deliveries.read();
  }

  /** Messages that the queue took, also from a tailer that died right then, and how many it had taken before. */
  sends(): { readonly sent: number; readonly again: number } {
    const file = `${this.#file}.sends`;
    const sent = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
    return { sent: sent.length, again: sent.length - new Set(sent).size };
  }

  called(): { readonly calls: number; readonly failed: number } {
    const said = this.consumers.map(({ progress }) => progress);
    const all = (what: 'calls' | 'failed'): number => sumOf(said.map((progress) => progress?.[what] ?? 0));
    return { calls: all('calls'), failed: all('failed') };
  }

  tailed(what: keyof TailerProgress): number {
    return sumOf(this.tailers.flatMap(({ progress }) => progress.map((said) => said[what])));
  }

  async startTailer(options: FurtherTailer): Promise<KillableProcess<TailerProgress>> {
    const input = this.#tailerInput(options, 0);
    const tailer = this.#parts.use(
      startProcess<TailerInput, TailerProgress>(TAILER, this.#setting.stage.folder, input),
    );
    await tailer.ready;
    return tailer;
  }

  async replaceConsumers(variation: Partial<ConsumerVariation>): Promise<void> {
    await Promise.all(this.consumers.map((consumer) => consumer.stop()));
    this.consumers = this.consumers.map((_, position) => this.#startConsumer(variation, position));
    await Promise.all(this.consumers.map(({ ready }) => ready));
  }

  async stopWriters(): Promise<void> {
    await this.#writers?.stop('stop');
  }

  /** The trigger as its operator has it. What DynamoDB, or a group, does not answer is asked again. */
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

  async parked(): Promise<ReadonlySet<string>> {
    return await this.operate(async (operations, trigger) => {
      const parked = new Set<string>();
      for (let after: string | undefined; ;) {
        const { cells, next } = await operations.listParkedCells({ trigger, after });
        for (const { shard, added_id } of cells) parked.add(`${shard}/${added_id}`);
        if (next === null) return parked;
        after = next;
      }
    });
  }

  /** Waits until every cell that is wanted was delivered in order, or nothing more comes. */
  async settle({
    isReal = true,
    patienceMs = isReal ? PATIENCE_MS : CONTROL_PATIENCE_MS,
    isDue = () => true,
  }: Settling = {}): Promise<DeliveryVerdict> {
    return await this.#untilWhole((await this.logged()).filter(isDue), () => this.deliveries(), patienceMs);
  }

  async conclude(settling: Settling = {}): Promise<DeliveryVerdict> {
    await this.stopWriters();
    return await this.settle(settling);
  }

  /** Rewinds the trigger to the start, and judges whether every cell that was there is delivered again, as a replay. */
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

import type { DynamoTable } from '../dynamo/table.ts';
import { pauseFor } from '../pause-for.ts';
import { updateState, readState, type StateItem } from '../dynamo/state-table.ts';

export interface WorkersOptions {
  readonly stateTable: DynamoTable;
  readonly workerGroup: string;
  readonly owner: string;
  /** The next worker of the same slot succeeds this one. @default a slot of its own */
  readonly slot?: string;
  /** At least; a large worker group beats more slowly, see `UNITS_A_SECOND`. @default 2000 */
  readonly heartbeatMs?: number;
  /** A worker that is silent for so long counts as dead. @default 6000 */
  readonly silenceMs?: number;
  readonly now?: () => number;
  readonly pause?: typeof pauseFor;
  readonly onError?: (error: unknown) => void;
}

/**
 * Write units that the heartbeats of a worker group may cost together. Each writes the whole item, about 75 bytes a
 * worker: 128 workers at a hand-over would write 1,280 units a second, and DynamoDB takes 1,000 for one item.
 */
const UNITS_A_SECOND = 600;

/** Announces this worker in an item of its worker group: a heartbeat is one write, which returns all workers. */
export class Workers {
  readonly owner: string;
  readonly #slot: string;
  readonly #heartbeatMs: number;
  readonly #silenceMs: number;
  readonly #pause: typeof pauseFor;
  readonly #onError: (error: unknown) => void;
  readonly #table: DynamoTable;
  readonly #key: string;
  readonly #names: Readonly<Record<string, string>>;
  readonly #seen: SeenWorkers;
  readonly #readiness = new Map<string, boolean>();
  readonly #stop = new AbortController();
  readonly #beating: Promise<void>;
  #number = 0;
  #beats = 0;
  #lives = 0;
  #asking: Promise<void> | undefined;

  constructor(options: WorkersOptions) {
    const { owner, slot = owner, heartbeatMs = 2000, silenceMs = 8000, now = () => performance.now() } = options;
    this.owner = owner;
    this.#slot = slot;
    this.#heartbeatMs = heartbeatMs;
    this.#silenceMs = silenceMs;
    this.#pause = options.pause ?? pauseFor;
    this.#onError = (error) => options.onError?.(error);
    this.#table = options.stateTable;
    this.#key = `workers#${options.workerGroup}`;
    this.#names = { '#me': attributeOf(owner) };
    this.#seen = new SeenWorkers(owner, silenceMs, now);
    this.#beating = this.#keepBeating();
  }

  /** Returns this worker's assignment, by its last view; nothing before it is announced. */
  assignment(partitions: number): Assignment {
    return assignmentOf(partitions, this.#seen.living(), this.owner);
  }

  /** How often this worker was announced: more than once means that others took it for dead. */
  lives(): number {
    return this.#lives;
  }

  /** Records for one of its followers whether it holds all of its assignment. */
  ready(follower: string, is: boolean): void {
    this.#readiness.set(follower, is);
  }

  poll(): Promise<void> {
    return this.#ask(async () => this.#seen.see((await readState(this.#table, this.#key)) ?? {}));
  }

  /** Ends the heartbeat and tells the others. */
  async leave(): Promise<void> {
    this.#stop.abort();
    await this.#beating;
    await updateState(this.#table, { key: this.#key, update: 'REMOVE #me', names: this.#names });
  }

  async #keepBeating(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#ask(() => this.#beat())
        .then(() => this.#removeDead())
        .catch(this.#onError);
      await this.#pause(this.#pauseMs(), this.#stop.signal);
    }
  }

  async #beat(): Promise<void> {
    this.#beats += 1;
    const item = this.#number > 0 ? await this.#announce('attribute_exists(#me)') : undefined;
    if (item) return this.#seen.see(item);
    // A worker that was taken for dead keeps its number: a new one would make it the heir of its own successor.
    if (this.#number === 0) {
      this.#number = await this.#nextNumber();
      this.#beats = 0;
    }
    this.#seen.see((await this.#announce()) ?? {});
    this.#lives += 1;
  }

  #announce(condition?: string): ReturnType<typeof updateState> {
    const isReady = this.#readiness.size > 0 && [...this.#readiness.values()].every(Boolean);
    const text = textOf({ slot: this.#slot, number: this.#number, ready: isReady }, this.#beats);
    return updateState(this.#table, {
      key: this.#key,
      update: 'SET #me = :me',
      ...(condition === undefined ? {} : { condition }),
      names: this.#names,
      values: { ':me': { S: text } },
    });
  }

  async #nextNumber(): Promise<number> {
    const update = { key: this.#key, update: 'ADD #joined :one', values: { ':one': { N: '1' } } };
    return Number((await updateState(this.#table, update))?.['joined']?.N);
  }

  async #removeDead(): Promise<void> {
    for (const { attribute, text } of this.#seen.dead()) {
      await updateState(this.#table, {
        key: this.#key,
        update: 'REMOVE #dead',
        condition: '#dead = :text',
        names: { '#dead': attribute },
        values: { ':text': { S: text } },
      });
    }
  }

  #pauseMs(): number {
    const shared = (this.#seen.unitsOfBeats() * 1000) / UNITS_A_SECOND;
    return Math.max(this.#heartbeatMs, Math.min(shared, this.#silenceMs / 3));
  }

  /** Asks one question at a time, so that no older answer comes after a newer one. */
  #ask(question: () => Promise<void>): Promise<void> {
    this.#asking ??= question().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }
}

interface Announcement {
  readonly attribute: string;
  readonly text: string;
}

const PREFIX = 'worker/';
const UNIT_BYTES = 1024;

/**
 * The workers of a worker group, as one of them saw its item. Clocks are never compared: a worker is dead if its
 * attribute has not changed for `silenceMs` of local time **while this one could poll**. After a pause of this process
 * or of DynamoDB every worker gets a new term.
 */
class SeenWorkers {
  readonly #mine: string;
  readonly #silenceMs: number;
  readonly #now: () => number;
  readonly #seen = new Map<string, { readonly text: string; readonly since: number }>();
  #lastPoll: number;
  #itemBytes = 0;

  /** @param owner the worker that polls, which counts as alive */
  constructor(owner: string, silenceMs: number, now: () => number) {
    this.#mine = attributeOf(owner);
    this.#silenceMs = silenceMs;
    this.#now = now;
    this.#lastPoll = now();
  }

  see(item: StateItem): void {
    const time = this.#now();
    const couldNotPoll = time - this.#lastPoll >= this.#silenceMs / 2;
    this.#lastPoll = time;
    this.#itemBytes = bytesOf(item);
    for (const [attribute, { S: text = '' }] of Object.entries(item)) {
      if (!attribute.startsWith(PREFIX)) continue;
      const known = this.#seen.get(attribute);
      if (couldNotPoll || known?.text !== text) this.#seen.set(attribute, { text, since: time });
    }
    for (const attribute of this.#seen.keys()) if (!(attribute in item)) this.#seen.delete(attribute);
  }

  living(): Worker[] {
    return [...this.#seen].flatMap(([attribute, { text, since }]) =>
      this.#isAlive(attribute, since) ? [toWorker(attribute, text)] : [],
    );
  }

  dead(): Announcement[] {
    return [...this.#seen].flatMap(([attribute, { text, since }]) =>
      this.#isAlive(attribute, since) ? [] : [{ attribute, text }],
    );
  }

  /** Write units of DynamoDB for one beat of each worker. */
  unitsOfBeats(): number {
    return Math.ceil(this.#itemBytes / UNIT_BYTES) * this.#seen.size;
  }

  #isAlive(attribute: string, since: number): boolean {
    return attribute === this.#mine || this.#lastPoll - since < this.#silenceMs;
  }
}

function attributeOf(owner: string): string {
  return PREFIX + owner;
}

/** @param beat differs from that of the last text, which shows that the worker lives */
function textOf({ slot, number, ready }: Omit<Worker, 'owner'>, beat: number): string {
  return JSON.stringify([slot, number, beat, ready]);
}

function toWorker(attribute: string, text: string): Worker {
  const [slot, number, , ready] = JSON.parse(text) as [string, number, number, boolean];
  return { owner: attribute.slice(PREFIX.length), slot, number, ready };
}

function bytesOf(item: StateItem): number {
  return Object.entries(item).reduce(
    (sum, [attribute, { S = '', N = '' }]) => sum + Buffer.byteLength(attribute) + Buffer.byteLength(S) + N.length,
    0,
  );
}

export interface Worker {
  readonly owner: string;
  /** Workers of one slot succeed each other: the one with the highest number goes on. */
  readonly slot: string;
  /** Rises with each worker that joins. */
  readonly number: number;
  /** Holds all of its assignment for everything that it follows. */
  readonly ready: boolean;
}

interface Assignment {
  readonly mine: readonly number[];
  /** Other living workers, whose partitions must not be taken. */
  readonly others: readonly string[];
  readonly successor?: Worker;
}

/**
 * Returns the assignment of a worker. Each worker computes its own: views that differ for a moment only lead to a
 * partition being taken twice, which its fence settles. The newest worker of each slot counts, in the order of the
 * slots, so that a successor has the assignment of its predecessor.
 */
export function assignmentOf(partitions: number, living: readonly Worker[], owner: string): Assignment {
  const newest = new Map<string, Worker>();
  for (const worker of living) {
    if (worker.number > (newest.get(worker.slot)?.number ?? 0)) newest.set(worker.slot, worker);
  }
  const me = living.find((worker) => worker.owner === owner);
  const others = living.filter((worker) => worker !== me).map((worker) => worker.owner);
  const heir = me && newest.get(me.slot);
  if (!me || !heir) return { mine: [], others };
  if (heir !== me) return { mine: [], others, successor: heir };
  const slots = [...newest.keys()].sort();
  const rank = slots.indexOf(me.slot);
  return {
    mine: Array.from({ length: partitions }, (_, partition) => partition).filter(
      (partition) => partition % slots.length === rank,
    ),
    others,
  };
}

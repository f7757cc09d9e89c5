import type { DynamoTable } from '../dynamo/table.ts';
import { pauseFor } from '../pause-for.ts';
import { attributeOf, SeenWorkers, textOf } from './seen-workers.ts';
import { shareOf, type Share } from './share.ts';
import { updateState, readState } from '../dynamo/state-table.ts';

export interface WorkersOptions {
  readonly stateTable: DynamoTable;
  readonly crew: string;
  readonly owner: string;
  /** The next worker of the same slot succeeds this one. @default a slot of its own */
  readonly slot?: string;
  /** At least; a large crew beats more slowly, see `UNITS_A_SECOND`. @default 1000 */
  readonly heartbeatMs?: number;
  /** A worker that is silent for so long counts as dead. @default 6000 */
  readonly silenceMs?: number;
  readonly now?: () => number;
  readonly pause?: typeof pauseFor;
  readonly onError?: (error: unknown) => void;
}

/**
 * Write units that the heartbeats of a crew may cost together. Each writes the whole item, about 75 bytes a worker: 128
 * workers at a hand-over would write 1,280 units a second, and DynamoDB takes 1,000 for one item.
 */
const UNITS_A_SECOND = 600;

/** Announces this worker in an item that its crew shares: one write a heartbeat shows that it lives, and who else does. */
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
    const { owner, slot = owner, heartbeatMs = 1000, silenceMs = 6000, now = () => performance.now() } = options;
    this.owner = owner;
    this.#slot = slot;
    this.#heartbeatMs = heartbeatMs;
    this.#silenceMs = silenceMs;
    this.#pause = options.pause ?? pauseFor;
    this.#onError = (error) => options.onError?.(error);
    this.#table = options.stateTable;
    this.#key = `workers#${options.crew}`;
    this.#names = { '#me': attributeOf(owner) };
    this.#seen = new SeenWorkers(owner, silenceMs, now);
    this.#beating = this.#keepBeating();
  }

  /** Returns what this worker should hold, by its last view; nothing before it is announced. */
  share(partitions: number): Share {
    return shareOf(partitions, this.#seen.living(), this.owner);
  }

  /** How often this worker was announced: more than once means that others took it for dead. */
  lives(): number {
    return this.#lives;
  }

  /** Records for one of its followers whether it holds all of its share. */
  ready(follower: string, is: boolean): void {
    this.#readiness.set(follower, is);
  }

  look(): Promise<void> {
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

import type { DynamoTable } from '../dynamo/table.ts';
import { pauseFor } from '../pause-for.ts';
import { attributeOf, SeenWorkers, textOf } from './seen-workers.ts';
import { shareOf, type Share } from './share.ts';
import { updateState, readState } from '../dynamo/state-table.ts';

export interface WorkersOptions {
  readonly stateTable: DynamoTable;
  /** Those who share work know each other by this name. */
  readonly crew: string;
  readonly owner: string;
  /**
   * Which of the workers wished for this one is; the next of the same slot succeeds it. @default its own: nobody does
   */
  readonly slot?: string;
  /** At least: a crew of many beats more slowly, see `UNITS_A_SECOND`. @default 1000 */
  readonly heartbeatMs?: number;
  /** Who is silent for so long counts as dead. @default 6000 */
  readonly silenceMs?: number;
  /** Milliseconds that only go forward. @default those of this process */
  readonly now?: () => number;
  /** Waits between two beats, or until the signal. @default `pauseFor` */
  readonly pause?: typeof pauseFor;
  readonly onError?: (error: unknown) => void;
}

export interface Workers {
  readonly owner: string;
  /** What this worker should hold, by what was last seen. Nothing before it is announced. */
  share(partitions: number): Share;
  /** How often this worker was announced: more than once means that others took it for dead. */
  lives(): number;
  /** Says for one of its followers whether it holds all of its share. */
  ready(follower: string, is: boolean): void;
  look(): Promise<void>;
  /** Ends the heartbeat and tells the others. */
  leave(): Promise<void>;
}

/**
 * What the beats of a crew may cost together. Each writes the whole item, about 75 bytes for each worker, and a write
 * is counted by the kilobyte: 128 workers, as 64 are at a hand-over, would write 1,280 units a second. DynamoDB takes
 * 1,000 for one item ("Best practices for designing partition keys"), and looks and joins are to have their share.
 */
const UNITS_A_SECOND = 600;

/**
 * Announces this worker and keeps it announced. One item for a crew holds an attribute for each worker, so that one
 * write a heartbeat both says that this one is alive and shows who else is (`SeenWorkers`).
 */
export function joinWorkers(options: WorkersOptions): Workers {
  return new JoinedWorker(options);
}

class JoinedWorker implements Workers {
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
  /** Given when it joins: 0 before. */
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

  share(partitions: number): Share {
    return shareOf(partitions, this.#seen.living(), this.owner);
  }

  lives(): number {
    return this.#lives;
  }

  ready(follower: string, is: boolean): void {
    this.#readiness.set(follower, is);
  }

  look(): Promise<void> {
    return this.#ask(async () => this.#seen.see((await readState(this.#table, this.#key)) ?? {}));
  }

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
    // Who was taken for dead comes back as who it was: a new number would make it the heir of its own successor.
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

  /** One question at a time, so that no older answer comes after a newer one. */
  #ask(question: () => Promise<void>): Promise<void> {
    this.#asking ??= question().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }
}

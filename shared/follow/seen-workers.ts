import type { StateItem } from '../dynamo/state-table.ts';
import type { Worker } from './share.ts';

interface Said {
  readonly attribute: string;
  readonly text: string;
}

const PREFIX = 'worker/';
const UNIT_BYTES = 1024;

/**
 * The workers of a crew, as its item showed them to one of them. Clocks are never compared: a worker is dead if its
 * attribute has not changed for `silenceMs` of local time **while this one could look**. After a pause of this process or
 * of DynamoDB every worker gets a new term.
 */
export class SeenWorkers {
  readonly #mine: string;
  readonly #silenceMs: number;
  readonly #now: () => number;
  readonly #seen = new Map<string, { readonly text: string; readonly since: number }>();
  #lastLook: number;
  #itemBytes = 0;

  /** @param owner the worker that looks, which counts as alive */
  constructor(owner: string, silenceMs: number, now: () => number) {
    this.#mine = attributeOf(owner);
    this.#silenceMs = silenceMs;
    this.#now = now;
    this.#lastLook = now();
  }

  see(item: StateItem): void {
    const time = this.#now();
    const couldNotLook = time - this.#lastLook >= this.#silenceMs / 2;
    this.#lastLook = time;
    this.#itemBytes = bytesOf(item);
    for (const [attribute, { S: text = '' }] of Object.entries(item)) {
      if (!attribute.startsWith(PREFIX)) continue;
      const known = this.#seen.get(attribute);
      if (couldNotLook || known?.text !== text) this.#seen.set(attribute, { text, since: time });
    }
    for (const attribute of this.#seen.keys()) if (!(attribute in item)) this.#seen.delete(attribute);
  }

  living(): Worker[] {
    return [...this.#seen].flatMap(([attribute, { text, since }]) =>
      this.#isAlive(attribute, since) ? [toWorker(attribute, text)] : [],
    );
  }

  dead(): Said[] {
    return [...this.#seen].flatMap(([attribute, { text, since }]) =>
      this.#isAlive(attribute, since) ? [] : [{ attribute, text }],
    );
  }

  /** Write units of DynamoDB for one beat of each worker. */
  unitsOfBeats(): number {
    return Math.ceil(this.#itemBytes / UNIT_BYTES) * this.#seen.size;
  }

  #isAlive(attribute: string, since: number): boolean {
    return attribute === this.#mine || this.#lastLook - since < this.#silenceMs;
  }
}

export function attributeOf(owner: string): string {
  return PREFIX + owner;
}

/** @param beat differs from that of the last text, which shows that the worker lives */
export function textOf({ slot, number, ready }: Omit<Worker, 'owner'>, beat: number): string {
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

import { setTimeout as sleep } from 'node:timers/promises';
import type { DynamoTable } from '../dynamo/table.ts';
import { shareOf, type Share, type Worker } from './share.ts';
import { updateState, readState, type StateItem } from '../dynamo/state-table.ts';

export interface WorkersOptions {
  readonly stateTable: DynamoTable;
  /** Those who share work know each other by this name. */
  readonly crew: string;
  /** Unique to this run. */
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
  /** Looks who is there, now. */
  look(): Promise<void>;
  /** Ends the heartbeat and tells the others. */
  leave(): Promise<void>;
}

const PREFIX = 'worker/';
/**
 * What the beats of a crew may cost together. Each writes the whole item, about 75 bytes for each worker, and a write
 * is counted by the kilobyte: 128 workers, as 64 are at a hand-over, would write 1,280 units a second. DynamoDB takes
 * 1,000 for one item ("Best practices for designing partition keys"), and looks and joins are to have their share.
 */
const UNITS_A_SECOND = 600;
const UNIT_BYTES = 1024;

/**
 * Announces this worker and keeps it announced. One item for a crew holds an attribute for each worker, so that one
 * write a heartbeat both says that this one is alive and shows who else is.
 *
 * Clocks are never compared: a worker is dead when its attribute has not changed for `silenceMs` of local time **while
 * this one could look**. After a pause of its own, or of DynamoDB, everybody gets a new term.
 */
export function joinWorkers(options: WorkersOptions): Workers {
  const {
    stateTable: table,
    owner,
    slot = owner,
    heartbeatMs = 1000,
    silenceMs = 6000,
    now = () => performance.now(),
  } = options;
  const key = `workers#${options.crew}`;
  const names = { '#me': PREFIX + owner };
  const seen = new Map<string, { readonly text: string; readonly since: number }>();
  const readiness = new Map<string, boolean>();
  const stop = new AbortController();
  let me = { number: 0, beat: 0 };
  let lives = 0;
  let lastLook = now();
  let itemBytes = 0;
  let asking: Promise<void> | undefined;

  const text = (): string =>
    JSON.stringify([slot, me.number, me.beat, readiness.size > 0 && [...readiness.values()].every(Boolean)]);

  async function beat(): Promise<void> {
    me.beat += 1;
    const item =
      me.number > 0
        ? await updateState(table, {
            key,
            update: 'SET #me = :me',
            condition: 'attribute_exists(#me)',
            names,
            values: { ':me': { S: text() } },
          })
        : undefined;
    if (item) return see(item);
    // Who was taken for dead comes back as who it was: a new number would make it the heir of its own successor.
    if (me.number === 0)
      me = {
        number: Number(
          (await updateState(table, { key, update: 'ADD #joined :one', values: { ':one': { N: '1' } } }))?.['joined']
            ?.N,
        ),
        beat: 0,
      };
    see((await updateState(table, { key, update: 'SET #me = :me', names, values: { ':me': { S: text() } } })) ?? {});
    lives += 1;
  }

  function see(item: StateItem): void {
    const time = now();
    const couldNotLook = time - lastLook >= silenceMs / 2;
    lastLook = time;
    itemBytes = Object.entries(item).reduce(
      (sum, [attribute, { S = '', N = '' }]) => sum + Buffer.byteLength(attribute) + Buffer.byteLength(S) + N.length,
      0,
    );
    for (const [attribute, { S: said = '' }] of Object.entries(item)) {
      if (!attribute.startsWith(PREFIX)) continue;
      const known = seen.get(attribute);
      if (couldNotLook || known?.text !== said) seen.set(attribute, { text: said, since: time });
    }
    for (const attribute of seen.keys()) if (!(attribute in item)) seen.delete(attribute);
  }

  const isAlive = ([attribute, { since }]: readonly [string, { readonly since: number }]): boolean =>
    attribute === names['#me'] || lastLook - since < silenceMs;

  function beatEveryMs(): number {
    const units = Math.ceil(itemBytes / UNIT_BYTES) * seen.size;
    return Math.max(heartbeatMs, Math.min((units * 1000) / UNITS_A_SECOND, silenceMs / 3));
  }

  async function removeDead(): Promise<void> {
    for (const [attribute, { text }] of [...seen].filter((entry) => !isAlive(entry))) {
      await updateState(table, {
        key,
        update: 'REMOVE #dead',
        condition: '#dead = :text',
        names: { '#dead': attribute },
        values: { ':text': { S: text } },
      });
    }
  }

  /** One question at a time, so that no older answer comes after a newer one. */
  function ask(question: () => Promise<void>): Promise<void> {
    asking ??= question().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  const beating = (async () => {
    while (!stop.signal.aborted) {
      await ask(beat)
        .then(removeDead)
        .catch((error: unknown) => options.onError?.(error));
      await sleep(beatEveryMs(), undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();

  return {
    owner,
    share: (partitions) =>
      shareOf(
        partitions,
        [...seen].filter(isAlive).map(([attribute, { text }]) => toWorker(attribute, text)),
        owner,
      ),
    lives: () => lives,
    ready(follower, is) {
      if (readiness.get(follower) === is) return;
      readiness.set(follower, is);
    },
    look: () => ask(async () => see((await readState(table, key)) ?? {})),
    async leave() {
      stop.abort();
      await beating;
      await updateState(table, { key, update: 'REMOVE #me', names });
    },
  };
}

function toWorker(attribute: string, text: string): Worker {
  const [slot, number, , ready] = JSON.parse(text) as [string, number, number, boolean];
  return { owner: attribute.slice(PREFIX.length), slot, number, ready };
}

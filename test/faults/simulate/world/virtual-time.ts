import timers from 'node:timers/promises';
import { syncBuiltinESMExports } from 'node:module';

/** A clock that advances only when everything that could happen at a moment has happened. */
export interface VirtualTime {
  /** Milliseconds since the simulation began. */
  now(): number;
  /** Runs an action later. Actions of the same moment run in the order of these calls. */
  after(milliseconds: number, act: () => void): void;
  sleep(milliseconds: number): Promise<void>;
  /** How far the wall clocks of all machines except the servers are ahead. */
  wallAheadMs: number;
  /** Lets time pass until the work is done. Throws its error, and an error if nothing is left that could end it. */
  runUntil<T>(work: Promise<T>): Promise<T>;
}

interface Event {
  readonly at: number;
  readonly number: number;
  readonly act: () => void;
}

export function virtualTime(): VirtualTime {
  const events = eventQueue();
  let now = 0;
  let number = 0;

  function after(milliseconds: number, act: () => void): void {
    number += 1;
    events.push({ at: now + Math.max(0, milliseconds), number, act });
  }

  return {
    wallAheadMs: 0,
    now: () => now,
    after,
    sleep: (milliseconds) => new Promise((resolve) => after(milliseconds, resolve)),
    async runUntil(work) {
      let isDone = false;
      const end = (): void => void (isDone = true);
      work.then(end, end);
      await new Promise<void>((resolve, reject) => {
        // All consequences come before the next turn, without any time passing: every promise chain has come to a wait.
        const turn = (): void => {
          if (isDone) return resolve();
          const next = events.pop();
          if (!next)
            return reject(new Error(`nothing is left to happen after ${Math.round(now)} ms, and the work is not done`));
          now = next.at;
          setImmediate(turn);
          next.act();
        };
        setImmediate(turn);
      });
      return work;
    },
  };
}

/** The time of the code under test: pauses, clocks. For this thread; each seed brings a new one. */
const lived: { time: VirtualTime | undefined } = { time: undefined };

/** The wall clock at the beginning of every simulation: 2026-01-31T08:00:00Z. */
export const BEGINNING_MS = Date.UTC(2026, 0, 31, 8);

/**
 * Puts the code of this thread into virtual time: timers, the pauses of `node:timers/promises`, `performance.now` and
 * `Date.now`, and `Math.random`, which then follows the seed. For threads that do nothing but simulate.
 */
export function liveIn(time: VirtualTime, random: () => number): void {
  if (!lived.time) install();
  lived.time = time;
  Math.random = random;
}

function install(): void {
  const timeNow = (): number => lived.time?.now() ?? 0;
  const sleep = async <T>(
    milliseconds = 0,
    value?: T,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<T> => {
    await (signal ? cutShort(milliseconds, signal) : lived.time?.sleep(milliseconds));
    return value as T;
  };
  timers.setTimeout = sleep as typeof timers.setTimeout;
  globalThis.setTimeout = timerIn as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((timer?: Timer) => timer?.clear()) as typeof clearTimeout;
  syncBuiltinESMExports();
  performance.now = timeNow;
  Date.now = () => BEGINNING_MS + timeNow() + (lived.time?.wallAheadMs ?? 0);
}

interface Timer {
  clear(): void;
  /** Nothing is kept waiting by a timer here. */
  unref(): Timer;
}

function timerIn(act: () => void, milliseconds = 0): Timer {
  let isCleared = false;
  lived.time?.after(milliseconds, () => {
    if (!isCleared) act();
  });
  const timer: Timer = { clear: () => void (isCleared = true), unref: () => timer };
  return timer;
}

/** A pause that the signal ends, like a real one: with its reason. */
function cutShort(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cut = (): void => reject(signal.reason);
    if (signal.aborted) return cut();
    signal.addEventListener('abort', cut, { once: true });
    lived.time?.after(milliseconds, () => {
      signal.removeEventListener('abort', cut);
      resolve();
    });
  });
}

/** Sorted, the next to happen last. */
function eventQueue() {
  const events: Event[] = [];
  const isBefore = (one: Event, other: Event): boolean =>
    one.at < other.at || (one.at === other.at && one.number < other.number);
  return {
    push(event: Event): void {
      let [least, most] = [0, events.length];
      while (least < most) {
        const middle = (least + most) >> 1;
        if (isBefore(event, events[middle] as Event)) least = middle + 1;
        else most = middle;
      }
      events.splice(least, 0, event);
    },
    pop: (): Event | undefined => events.pop(),
  };
}

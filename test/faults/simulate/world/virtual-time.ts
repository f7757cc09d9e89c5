import timers from 'node:timers/promises';
import { syncBuiltinESMExports } from 'node:module';

/** A clock that goes on only when everything that could happen at a moment has happened. */
export interface VirtualTime {
  /** Milliseconds since the simulation began. */
  now(): number;
  /** Does something later. Things of the same moment are done in the order in which they were asked for. */
  after(milliseconds: number, act: () => void): void;
  sleep(milliseconds: number): Promise<void>;
  /** Lets time pass until the work is done. Throws what the work throws, and when nothing is left that could end it. */
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
    now: () => now,
    after,
    sleep: (milliseconds) => new Promise((resolve) => after(milliseconds, resolve)),
    async runUntil(work) {
      const state = { isDone: false };
      const end = (): void => void (state.isDone = true);
      work.then(end, end);
      for (;;) {
        await settled();
        if (state.isDone) return work;
        const next = events.pop();
        if (!next) throw new Error(`nothing is left to happen after ${Math.round(now)} ms, and the work is not done`);
        now = next.at;
        next.act();
      }
    },
  };
}

/** Whatever follows from what has happened, without any time passing: every promise chain has come to a wait. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** The time that the code under test lives in: pauses, clocks. Of this thread; each seed brings a new one. */
const lived: { time: VirtualTime | undefined } = { time: undefined };

/** The wall clock at the beginning of every simulation: 2026-01-31T08:00:00Z. */
export const BEGINNING_MS = Date.UTC(2026, 0, 31, 8);

/**
 * Puts the code of this thread into virtual time: the pauses of `node:timers/promises`, `performance.now` and `Date.now`,
 * and `Math.random`, which then follows the seed. For threads that do nothing but simulate.
 */
export function liveIn(time: VirtualTime, random: () => number): void {
  if (!lived.time) install();
  lived.time = time;
  Math.random = random;
}

function install(): void {
  const timeNow = (): number => lived.time?.now() ?? 0;
  const sleep = async <T>(milliseconds = 0, value?: T, options: { readonly signal?: AbortSignal } = {}): Promise<T> => {
    if (options.signal) throw new Error('a pause that can be cut short has no place in a simulation yet');
    await lived.time?.sleep(milliseconds);
    return value as T;
  };
  timers.setTimeout = sleep as typeof timers.setTimeout;
  syncBuiltinESMExports();
  performance.now = timeNow;
  Date.now = () => BEGINNING_MS + timeNow();
}

/** A binary heap: the next thing to happen is at its head. */
function eventQueue() {
  const heap: Event[] = [];
  const isBefore = (one: Event, other: Event): boolean => one.at < other.at || (one.at === other.at && one.number < other.number);

  function sift(place: number, event: Event): void {
    let hole = place;
    for (;;) {
      let least = hole * 2 + 1;
      const right = heap[least + 1];
      const left = heap[least];
      if (!left) break;
      let child = left;
      if (right && isBefore(right, left)) {
        least += 1;
        child = right;
      }
      if (!isBefore(child, event)) break;
      heap[hole] = child;
      hole = least;
    }
    heap[hole] = event;
  }

  return {
    push(event: Event): void {
      let hole = heap.length;
      heap.push(event);
      while (hole > 0) {
        const above = (hole - 1) >> 1;
        const parent = heap[above] as Event;
        if (!isBefore(event, parent)) break;
        heap[hole] = parent;
        hole = above;
      }
      heap[hole] = event;
    },
    pop(): Event | undefined {
      const [first] = heap;
      const last = heap.pop();
      if (first && last && heap.length > 0) sift(0, last);
      return first;
    },
  };
}

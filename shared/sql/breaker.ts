import { setTimeout as sleep } from 'node:timers/promises';
import { SqlError } from './client.ts';
import type { Standstill } from './standstill.ts';

export interface BreakerSettings {
  /**
   * Failures in a row after which a sign of life is asked for; after a time limit that passed it is at once. @default 3
   */
  readonly failures: number;
  /** A statement that takes longer counts as a failure, though its answer is used. @default 3000 */
  readonly slowMs: number;
  /**
   * All connections being in use counts as a time limit that passed, once nothing was answered for so long. @default
   * 1000
   */
  readonly silentMs: number;
  /**
   * Between the opening and the next sign of life that is asked for; later ones follow at growing, random distances.
   * @default 500
   */
  readonly probeAfterMs: number;
  /** The greatest such distance. @default 5000 */
  readonly probeMostMs: number;
  /** How long a sign of life may take: a machine that is too busy gives it late. @default 1000 */
  readonly probeTimeoutMs: number;
}

export const BREAKER_SETTINGS: BreakerSettings = {
  failures: 3,
  slowMs: 3000,
  silentMs: 1000,
  probeAfterMs: 500,
  probeMostMs: 5000,
  probeTimeoutMs: 1000,
};

export type CircuitName = 'closed' | 'open';

/** Who suspected that the server is down: this breaker, of its own statements, or somebody else who told it. */
export type SuspectedBy = 'here' | 'elsewhere';

export interface Breaker {
  /** Runs a statement, or fails at once with `unreachable` while the circuit is open. */
  run<T>(statement: () => Promise<T>): Promise<T>;
  /**
   * Somebody else found it down: a sign of life is asked for, which statements wait for, and without one the circuit
   * opens.
   */
  doubt(): void;
  state(): CircuitName;
}

export interface BreakerOptions {
  /** What is behind it, for the error: "group-1's writer". */
  readonly name: string;
  /** Asks for a sign of life, in a way that nothing of what it is asked about can keep from being answered. */
  readonly probe: () => Promise<unknown>;
  readonly settings: BreakerSettings;
  readonly standstill: Standstill;
  readonly onOpen: (suspectedBy: SuspectedBy) => void;
}

/** How often it is looked whether a sign of life is due. */
const TICK_MS = 100;
/** Who has not looked for so long, and as long as a sign of life may take, was frozen. */
const FROZEN_MS = 1000;

/**
 * A circuit breaker round one role of one group. What opens it is evidence against the server alone: a sign of life
 * that was asked for, and did not come while this process was awake, nor anything else from there. A time limit that
 * passed is evidence against a statement, perhaps of one table that somebody locked; a lost connection against a
 * socket, perhaps of a freeze. They are what makes it ask. The statement is answered meanwhile as it would be anyway,
 * and others go on.
 *
 * While the circuit is open it goes on asking, with a time limit of its own: nobody's statement is used to find out
 * whether the server is up again, and nobody waits for that. An instance that was frozen while its circuit was open
 * (Lambda freezes what has no request) finds the question overdue; then, and only then, the first statements wait for
 * its answer, as statements do when somebody else found the server down.
 */
export function breaker({ name, probe, settings, standstill, onOpen }: BreakerOptions): Breaker {
  const { failures: mostFailures, slowMs, silentMs, probeAfterMs, probeMostMs } = settings;
  let isOpen = false;
  let failures = 0;
  let closedAt = 0;
  let answeredAt = performance.now();
  /** Both by the wall clock: a steady one may stand still in an instance that is frozen. */
  let lookedAt = 0;
  let dueAt = 0;
  let pauseMs = probeAfterMs;
  const life = signOfLife({ probe, timeoutMs: settings.probeTimeoutMs, standstill, answeredAt: () => answeredAt });
  /** A clock that was set back, too, says nothing of how much time has passed. */
  const isFrozen = (): boolean => Math.abs(Date.now() - lookedAt) > FROZEN_MS + settings.probeTimeoutMs;
  /** What statements wait for before they are run, or refused. */
  let awaited: Promise<void> | undefined;

  function waitFor(asking: Promise<void>): void {
    awaited ??= asking.finally(() => {
      awaited = undefined;
    });
  }

  const state = (): CircuitName => (isOpen ? 'open' : 'closed');

  async function suspect(by: SuspectedBy): Promise<void> {
    if (await life.comes()) failures = 0;
    else if (!isOpen) open(by);
  }

  function open(by: SuspectedBy): void {
    isOpen = true;
    failures = 0;
    pauseMs = probeAfterMs;
    lookedAt = Date.now();
    dueAt = lookedAt + pauseMs;
    onOpen(by);
    void keepAsking();
  }

  async function keepAsking(): Promise<void> {
    while (state() === 'open') {
      await sleep(TICK_MS, undefined, { ref: false });
      await look();
    }
  }

  function look(): Promise<void> {
    const wasFrozen = isFrozen();
    lookedAt = Date.now();
    if (wasFrozen) dueAt = lookedAt;
    const asking = askIfDue();
    if (wasFrozen) waitFor(asking);
    return asking;
  }

  async function askIfDue(): Promise<void> {
    if (!isOpen || Date.now() < dueAt) return;
    if (await life.comes()) {
      isOpen = false;
      closedAt = performance.now();
      return;
    }
    pauseMs = Math.min(2 * pauseMs, probeMostMs);
    dueAt = Date.now() + pauseMs * (0.5 + Math.random() / 2);
  }

  /** Throws while the circuit is open. */
  async function pass(): Promise<void> {
    if (isOpen && isFrozen()) void look();
    await awaited;
    if (isOpen) throw new SqlError('unreachable', `the circuit of ${name} is open`);
  }

  /** Takes note of a failure, or of an answer that took long. */
  function fail(begun: number, isLimit: boolean): void {
    // What began before the circuit last closed says nothing of how it is now.
    if (isOpen || life.isAskedFor() || begun < closedAt) return;
    failures += 1;
    if (isLimit || failures >= mostFailures) void suspect('here');
  }

  return {
    async run(statement) {
      if (isOpen || awaited) await pass();
      const begun = performance.now();
      try {
        const value = await statement();
        answeredAt = performance.now();
        if (answeredAt - begun <= slowMs) failures = 0;
        else fail(begun, false);
        return value;
      } catch (error) {
        if (error instanceof SqlError) {
          // All connections are in use and none has been answered for a while: they hang, whatever time limits have yet
          // to pass.
          const isSilent = error.poolExhausted && performance.now() - answeredAt > silentMs;
          if (isSilent || isOutage(error)) fail(begun, isSilent || error.timedOut);
          else if (!error.poolExhausted && !error.stoodStill) answeredAt = performance.now();
        }
        throw error;
      }
    },

    doubt() {
      if (!isOpen) waitFor(suspect('elsewhere'));
    },

    state,
  };
}

interface SignOfLife {
  readonly probe: () => Promise<unknown>;
  readonly timeoutMs: number;
  readonly standstill: Standstill;
  /** When a statement was answered last: that is one, too, however busy the server is. */
  readonly answeredAt: () => number;
}

/**
 * Asks for one at a time; who asks meanwhile gets the same answer. One that this process was not awake to hear is asked
 * for again.
 */
function signOfLife({ probe, timeoutMs, standstill, answeredAt }: SignOfLife): {
  comes(): Promise<boolean>;
  isAskedFor(): boolean;
} {
  let asking: Promise<boolean> | undefined;

  async function ask(): Promise<boolean> {
    for (;;) {
      const begun = performance.now();
      try {
        await within(timeoutMs, probe());
        return true;
      } catch {
        if (answeredAt() > begun) return true;
        if (!standstill.since(begun)) return false;
      }
    }
  }

  return {
    comes() {
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return asking;
    },
    isAskedFor: () => asking !== undefined,
  };
}

/**
 * Whether a failure may speak against the server; a refused statement, or one that met a lock, shows that it lives, and
 * one that this process was not awake to hear of shows nothing.
 */
function isOutage({ failure, poolExhausted, stoodStill }: SqlError): boolean {
  return (failure === 'unclear' || failure === 'unreachable') && !poolExhausted && !stoodStill;
}

async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const end = new AbortController();
  try {
    await Promise.race([
      work,
      sleep(milliseconds, undefined, { signal: end.signal, ref: false }).then(() =>
        Promise.reject(new SqlError('unreachable', `no sign of life in ${milliseconds} ms`, { timedOut: true })),
      ),
    ]);
  } finally {
    end.abort();
  }
}

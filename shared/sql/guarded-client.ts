import { setTimeout as sleep } from 'node:timers/promises';
import type { Role } from '../cell.ts';
import { type SqlClient, type Statement, type Target, SqlError } from './client.ts';
import { ownStandstill, type Standstill } from './standstill.ts';
import { SignOfLife } from './sign-of-life.ts';

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

const BREAKER_SETTINGS: BreakerSettings = {
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

interface Breaker {
  /** Runs a statement, or fails at once with `unreachable` while the circuit is open. */
  run<T>(statement: () => Promise<T>): Promise<T>;
  /**
   * Somebody else found it down: a sign of life is asked for, which statements wait for, and without one the circuit
   * opens.
   */
  doubt(): void;
  state(): CircuitName;
}

interface BreakerOptions {
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
function breaker(options: BreakerOptions): Breaker {
  return new CircuitBreaker(options);
}

class CircuitBreaker implements Breaker {
  readonly #name: string;
  readonly #settings: BreakerSettings;
  readonly #onOpen: BreakerOptions['onOpen'];
  readonly #life: SignOfLife;
  #isOpen = false;
  #failures = 0;
  #closedAt = 0;
  #answeredAt = performance.now();
  /** Both by the wall clock: a steady one may stand still in an instance that is frozen. */
  #lookedAt = 0;
  #dueAt = 0;
  #pauseMs: number;
  /** What statements wait for before they are run, or refused. */
  #awaited: Promise<void> | undefined;

  constructor({ name, probe, settings, standstill, onOpen }: BreakerOptions) {
    this.#name = name;
    this.#settings = settings;
    this.#onOpen = onOpen;
    this.#pauseMs = settings.probeAfterMs;
    this.#life = new SignOfLife({
      probe,
      timeoutMs: settings.probeTimeoutMs,
      standstill,
      answeredAt: () => this.#answeredAt,
    });
  }

  async run<T>(statement: () => Promise<T>): Promise<T> {
    if (this.#isOpen || this.#awaited) await this.#pass();
    const begun = performance.now();
    try {
      const value = await statement();
      this.#answeredAt = performance.now();
      if (this.#answeredAt - begun <= this.#settings.slowMs) this.#failures = 0;
      else this.#fail(begun, false);
      return value;
    } catch (error) {
      if (error instanceof SqlError) this.#judge(error, begun);
      throw error;
    }
  }

  doubt(): void {
    if (!this.#isOpen) this.#waitFor(this.#suspect('elsewhere'));
  }

  state(): CircuitName {
    return this.#isOpen ? 'open' : 'closed';
  }

  /** Throws while the circuit is open. */
  async #pass(): Promise<void> {
    if (this.#isOpen && this.#isFrozen()) void this.#look();
    await this.#awaited;
    if (this.#isOpen) throw new SqlError('unreachable', `the circuit of ${this.#name} is open`);
  }

  #judge(error: SqlError, begun: number): void {
    // All connections are in use and none has been answered for a while: they hang, whatever time limits have yet to
    // pass.
    const isSilent = error.poolExhausted && performance.now() - this.#answeredAt > this.#settings.silentMs;
    if (isSilent || isOutage(error)) this.#fail(begun, isSilent || error.timedOut);
    else if (!error.poolExhausted && !error.stoodStill) this.#answeredAt = performance.now();
  }

  /** Takes note of a failure, or of an answer that took long. */
  #fail(begun: number, isLimit: boolean): void {
    // What began before the circuit last closed says nothing of how it is now.
    if (this.#isOpen || this.#life.isAskedFor() || begun < this.#closedAt) return;
    this.#failures += 1;
    if (isLimit || this.#failures >= this.#settings.failures) void this.#suspect('here');
  }

  async #suspect(by: SuspectedBy): Promise<void> {
    if (await this.#life.comes()) this.#failures = 0;
    else if (!this.#isOpen) this.#open(by);
  }

  #open(by: SuspectedBy): void {
    this.#isOpen = true;
    this.#failures = 0;
    this.#pauseMs = this.#settings.probeAfterMs;
    this.#lookedAt = Date.now();
    this.#dueAt = this.#lookedAt + this.#pauseMs;
    this.#onOpen(by);
    void this.#keepAsking();
  }

  async #keepAsking(): Promise<void> {
    while (this.#isOpen) {
      await sleep(TICK_MS, undefined, { ref: false });
      await this.#look();
    }
  }

  #look(): Promise<void> {
    const wasFrozen = this.#isFrozen();
    this.#lookedAt = Date.now();
    if (wasFrozen) this.#dueAt = this.#lookedAt;
    const asking = this.#askIfDue();
    if (wasFrozen) this.#waitFor(asking);
    return asking;
  }

  async #askIfDue(): Promise<void> {
    if (!this.#isOpen || Date.now() < this.#dueAt) return;
    if (await this.#life.comes()) {
      this.#isOpen = false;
      this.#closedAt = performance.now();
      return;
    }
    this.#pauseMs = Math.min(2 * this.#pauseMs, this.#settings.probeMostMs);
    this.#dueAt = Date.now() + this.#pauseMs * (0.5 + Math.random() / 2);
  }

  /** A clock that was set back, too, says nothing of how much time has passed. */
  #isFrozen(): boolean {
    return Math.abs(Date.now() - this.#lookedAt) > FROZEN_MS + this.#settings.probeTimeoutMs;
  }

  #waitFor(asking: Promise<void>): void {
    this.#awaited ??= asking.finally(() => {
      this.#awaited = undefined;
    });
  }
}

/**
 * Whether a failure may speak against the server; a refused statement, or one that met a lock, shows that it lives, and
 * one that this process was not awake to hear of shows nothing.
 */
function isOutage({ failure, poolExhausted, stoodStill }: SqlError): boolean {
  return (failure === 'unclear' || failure === 'unreachable') && !poolExhausted && !stoodStill;
}

export interface GuardOptions {
  /** @default BREAKER_SETTINGS, for those left out */
  readonly settings?: Partial<BreakerSettings>;
  /** When the process that asks stood still. @default this thread's own watch */
  readonly standstill?: Standstill;
  /** A circuit of this client opened. */
  readonly onOpen?: (role: Role, suspectedBy: SuspectedBy) => void;
}

/**
 * A group's client behind circuit breakers: one for its writer, one for its readers, one for each node asked by itself.
 */
export interface GuardedClient extends SqlClient {
  circuit(role: Role): CircuitName;
  /** Somebody else found a role down: its circuit opens unless a sign of life comes, which statements wait for. */
  doubt(role: Role): void;
}

/** What a group's client is put behind when it is opened; `onOpen` is to be told of its circuits. */
export type Guard = (client: SqlClient, group: string, onOpen: Required<GuardOptions>['onOpen']) => GuardedClient;

/** Circuit breakers as the way to MySQL wants them. @param settings @default BREAKER_SETTINGS, for those left out */
export function guardWith(settings: Partial<BreakerSettings> = {}): Guard {
  return (client, group, onOpen) => guardedClient(client, group, { settings, onOpen });
}

const SIGN_OF_LIFE: Statement = { sql: 'SELECT 1', parameters: [] };
/**
 * Asked in two ways: where a machine is too busy to open a connection in time, one that is open and free may be
 * answered on.
 */
const WAYS: readonly Statement[] = [{ ...SIGN_OF_LIFE, apart: true }, SIGN_OF_LIFE];

/**
 * Puts circuit breakers round one group's client. After a time limit that passed, or a few other failures in a row, a
 * role is asked for a sign of life, on a connection of its own too. If none comes, statements to it fail at once with
 * `unreachable` until one does: whoever asks goes on to the other role, or to a secondary, without waiting for the same
 * again.
 */
export function guardedClient(
  client: SqlClient,
  group: string,
  { settings, standstill = ownStandstill(), onOpen = () => undefined }: GuardOptions = {},
): GuardedClient {
  const breakers = new Map<string, Breaker>();

  function breakerOf(target: Target): Breaker {
    const name = typeof target === 'string' ? target : `node ${target.node}`;
    const known = breakers.get(name);
    if (known) return known;
    const made = breaker({
      name: `${group}, ${name}`,
      probe: () => Promise.any(WAYS.map((statement) => client.select(statement, target))),
      settings: { ...BREAKER_SETTINGS, ...settings },
      standstill,
      onOpen: (suspectedBy) => {
        if (typeof target === 'string') onOpen(target, suspectedBy);
      },
    });
    breakers.set(name, made);
    return made;
  }

  return {
    abilities: client.abilities,
    nodes: client.nodes,
    select: (statement, target) => breakerOf(target).run(() => client.select(statement, target)),
    change: (statement) => breakerOf('writer').run(() => client.change(statement)),
    circuit: (role) => breakerOf(role).state(),
    doubt: (role) => breakerOf(role).doubt(),
    close: () => client.close(),
  };
}

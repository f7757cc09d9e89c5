import { setTimeout as sleep } from 'node:timers/promises';
import type { Role } from '../cell.ts';
import { READ_ONLY, HEALTH_CHECK, type SqlClient, type Statement, type Target, SqlError } from './client.ts';
import { writeHealthCheck } from './statements/write-health-check.ts';
import { ownProcessPause, type ProcessPause } from './process-pause.ts';
import { healthCheck } from './health-check.ts';

const BREAKER_SETTINGS = {
  /** Failures in a row that start a health check; one timeout is enough. */
  failures: 3,
  /** A slower statement counts as a failure, though its answer is used. */
  slowMs: 3000,
  /** A full pool counts as a timeout once nothing was answered for this time. */
  silentMs: 1000,
  /** Time from the opening to the next probe; later ones follow at growing, random distances. */
  probeAfterMs: 500,
  probeMostMs: 5000,
  /** Time limit of a probe; a busy machine answers late. */
  probeTimeoutMs: 1000,
};

export type BreakerSettings = Readonly<typeof BREAKER_SETTINGS>;

export type CircuitName = 'closed' | 'open';

export type SuspectedBy = 'here' | 'elsewhere';

interface BreakerOptions {
  readonly name: string;
  /** Runs a health check that no load can block. */
  readonly probe: () => Promise<unknown>;
  /** A lock wait starts a health check: one table's fault, or an obstacle to all. */
  readonly suspectsLocks: boolean;
  readonly settings: BreakerSettings;
  readonly processPause: ProcessPause;
  readonly onOpen: (suspectedBy: SuspectedBy) => void;
}

const TICK_MS = 100;
/** A breaker that did not poll for this time, plus a probe's limit, was frozen. */
const FROZEN_MS = 1000;

/**
 * Guards one role of one group. Only a failed health check opens it: one without an answer while this process was
 * awake. A timeout may be one locked table's fault, a lost connection a freeze's, so they only start a health check;
 * other statements continue.
 *
 * While open it repeats the health check in the background; no statement is used as a probe. An instance that Lambda
 * froze finds the probe overdue: only then the first statements wait for the answer, as they do after `suspect`.
 */
class CircuitBreaker {
  readonly #options: BreakerOptions;
  readonly #settings: BreakerSettings;
  /** One probe at a time, which concurrent callers share. */
  #asking: Promise<boolean> | undefined;
  #isOpen = false;
  #failures = 0;
  #closedAt = 0;
  #answeredAt = performance.now();
  /** By the wall clock: a steady one may stand still in a frozen instance. */
  #polledAt = 0;
  #dueAt = 0;
  #pauseMs: number;
  #awaited: Promise<void> | undefined;

  constructor(options: BreakerOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.#pauseMs = options.settings.probeAfterMs;
  }

  /** Runs a statement, or fails at once with `unreachable` while the circuit is open. */
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

  /** Starts a health check, which statements wait for; if it fails the circuit opens. */
  suspect(): void {
    if (!this.#isOpen) this.#waitFor(this.#suspect('elsewhere'));
  }

  state(): CircuitName {
    return this.#isOpen ? 'open' : 'closed';
  }

  async #pass(): Promise<void> {
    if (this.#isOpen && this.#isFrozen()) void this.#poll();
    await this.#awaited;
    if (this.#isOpen) throw new SqlError('unreachable', `the circuit of ${this.#options.name} is open`);
  }

  #judge(error: SqlError, begun: number): void {
    // A full pool without any answer for a while: the connections hang, before their time limits pass.
    const isSilent = error.poolExhausted && performance.now() - this.#answeredAt > this.#settings.silentMs;
    const isLimit = isSilent || error.timedOut || (this.#options.suspectsLocks && error.isLockWait);
    if (isLimit || isOutage(error)) this.#fail(begun, isLimit);
    else if (!error.poolExhausted && !error.wasPaused) this.#answeredAt = performance.now();
  }

  #isAlive(): Promise<boolean> {
    const { probe, processPause } = this.#options;
    const timeoutMs = this.#settings.probeTimeoutMs;
    this.#asking ??= healthCheck({ probe, timeoutMs, processPause, answeredAt: () => this.#answeredAt }).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  #fail(begun: number, isLimit: boolean): void {
    // A statement that began before the circuit closed says nothing about now.
    if (this.#isOpen || this.#asking || begun < this.#closedAt) return;
    this.#failures += 1;
    if (isLimit || this.#failures >= this.#settings.failures) void this.#suspect('here');
  }

  async #suspect(by: SuspectedBy): Promise<void> {
    if (await this.#isAlive()) this.#failures = 0;
    else if (!this.#isOpen) this.#open(by);
  }

  #open(by: SuspectedBy): void {
    this.#isOpen = true;
    this.#failures = 0;
    this.#pauseMs = this.#settings.probeAfterMs;
    this.#polledAt = Date.now();
    this.#dueAt = this.#polledAt + this.#pauseMs;
    this.#options.onOpen(by);
    void this.#keepAsking();
  }

  async #keepAsking(): Promise<void> {
    while (this.#isOpen) {
      await sleep(TICK_MS, undefined, { ref: false });
      await this.#poll();
    }
  }

  #poll(): Promise<void> {
    const wasFrozen = this.#isFrozen();
    this.#polledAt = Date.now();
    if (wasFrozen) this.#dueAt = this.#polledAt;
    const asking = this.#askIfDue();
    if (wasFrozen) this.#waitFor(asking);
    return asking;
  }

  async #askIfDue(): Promise<void> {
    if (!this.#isOpen || Date.now() < this.#dueAt) return;
    if (await this.#isAlive()) {
      this.#isOpen = false;
      this.#closedAt = performance.now();
      return;
    }
    this.#pauseMs = Math.min(2 * this.#pauseMs, this.#settings.probeMostMs);
    this.#dueAt = Date.now() + this.#pauseMs * (0.5 + Math.random() / 2);
  }

  /** A clock that jumped back says nothing about elapsed time either. */
  #isFrozen(): boolean {
    return Math.abs(Date.now() - this.#polledAt) > FROZEN_MS + this.#settings.probeTimeoutMs;
  }

  #waitFor(asking: Promise<void>): void {
    this.#awaited ??= asking.finally(() => {
      this.#awaited = undefined;
    });
  }
}

/** The circuit of the writer's changes. */
const CHANGES = 'changes';

/** Whether a failure may speak against the server. A refusal or a lock shows that it lives. */
function isOutage({ failure, errno, poolExhausted, wasPaused }: SqlError): boolean {
  if (poolExhausted || wasPaused || READ_ONLY.has(errno)) return false;
  return failure === 'unclear' || failure === 'unreachable';
}

export interface GuardOptions {
  readonly settings?: Partial<BreakerSettings>;
  readonly processPause?: ProcessPause;
  readonly onOpen?: (role: Role, suspectedBy: SuspectedBy) => void;
}

export interface GuardedClient extends SqlClient {
  circuit(role: Role): CircuitName;
  /** Another instance found a role down: the circuit opens unless a health check succeeds. */
  suspect(role: Role): void;
}

export type Guard = (client: SqlClient, group: string, onOpen: Required<GuardOptions>['onOpen']) => GuardedClient;

export function guardWith(settings: Partial<BreakerSettings> = {}): Guard {
  return (client, group, onOpen) => guardedClient(client, group, { settings, onOpen });
}

/** Asks in two ways: a machine too busy to open a connection may answer on an open one. */
function inTwoWays(statement: Statement, ask: (statement: Statement) => Promise<unknown>): Promise<unknown> {
  return Promise.any([{ ...statement, isolated: true } as const, statement].map(ask));
}

/** A refusal, as of a server that may only be read, is an answer. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof SqlError) || error.failure !== 'rejected') throw error;
}

/** Puts circuit breakers round a group's client. Changes have their own, whose health check writes. */
export function guardedClient(
  client: SqlClient,
  group: string,
  { settings, processPause = ownProcessPause(), onOpen = () => undefined }: GuardOptions = {},
): GuardedClient {
  const breakers = new Map<string, CircuitBreaker>();
  const isOpen = (name: string): boolean => breakers.get(name)?.state() === 'open';

  function breakerOf(target: Target | typeof CHANGES): CircuitBreaker {
    const name = typeof target === 'string' ? target : `node ${target.node}`;
    const known = breakers.get(name);
    if (known) return known;
    const role = target === CHANGES ? 'writer' : target;
    const made = new CircuitBreaker({
      name: `${group}, ${target === CHANGES ? 'writer' : name}`,
      probe: () =>
        target === CHANGES
          ? inTwoWays(writeHealthCheck(), (statement) => client.change(statement).catch(unlessRefused))
          : inTwoWays(HEALTH_CHECK, (statement) => client.select(statement, target)),
      suspectsLocks: target === CHANGES,
      settings: { ...BREAKER_SETTINGS, ...settings },
      processPause,
      onOpen: (suspectedBy) => {
        const isSecond = role === 'writer' && isOpen('writer') && isOpen(CHANGES);
        if (typeof role === 'string' && !isSecond) onOpen(role, suspectedBy);
      },
    });
    breakers.set(name, made);
    return made;
  }

  return {
    abilities: client.abilities,
    nodes: client.nodes,
    select: (statement, target) => breakerOf(target).run(() => client.select(statement, target)),
    change: (statement) => breakerOf(CHANGES).run(() => breakerOf('writer').run(() => client.change(statement))),
    circuit: (role) => (role === 'writer' && isOpen(CHANGES) ? 'open' : breakerOf(role).state()),
    suspect(role) {
      breakerOf(role).suspect();
      if (role === 'writer') breakers.get(CHANGES)?.suspect();
    },
    close: () => client.close(),
  };
}

import { describe, expect, it } from 'vitest';
import type { Lease, Leases } from '../../../shared/dynamo/lease.ts';
import { runJob, type Job } from '../../../shared/dynamo/run-job.ts';

const FAR = Date.now() + 3_600_000; // Clock: a deadline that is not reached
/** Resolves at the signal, and not before. */
const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

/** Leases of one name, in memory. Without a `holder` the lease is free. */
class OneLease implements Leases {
  holder: number | undefined;
  isWanted = false;
  #tokens = 0;

  async take(name: string): Promise<Lease | undefined> {
    if (this.holder !== undefined) return undefined;
    this.holder = this.#tokens += 1;
    this.isWanted = false;
    return { name, token: this.holder };
  }

  async renew({ token }: Lease): Promise<'held' | 'wanted' | 'lost'> {
    if (this.holder !== token) return 'lost';
    return this.isWanted ? 'wanted' : 'held';
  }

  async release({ token }: Lease): Promise<void> {
    if (this.holder === token) this.holder = undefined;
  }
}

const QUIET = { everyMs: 1, failed: () => undefined };
const QUICK = { renewMs: 1, takeEveryMs: 1, deadline: FAR };

describe('a job', () => {
  it('goes on next to a work that fails, and next to one that never comes back', async () => {
    const [leases, failures] = [new OneLease(), [] as number[]];
    let turns = 0;
    const end = new AbortController();
    await runJob(
      { ...QUICK, leases, signal: end.signal },
      {
        lease: 'one',
        begin({ work, signal }) {
          work('fails', {
            turn: () => Promise.reject(new Error('no')),
            failed: (_error, inARow) => failures.push(inARow),
            everyMs: 1,
            pauses: { firstMs: 1, longestMs: 2 },
          });
          work('hangs', { turn: () => ended(signal), ...QUIET });
          work('works', {
            turn: async () => {
              turns += 1;
              if (turns >= 20 && failures.length >= 3) end.abort();
              return 1;
            },
            ...QUIET,
          });
        },
      },
    );
    expect(failures.slice(0, 3)).toEqual([1, 2, 3]);
    expect(turns).toBeGreaterThanOrEqual(20);
    expect(leases.holder).toBeUndefined();
  });

  it('ends for a successor, which says so, once its turns have ended', async () => {
    const leases = new OneLease();
    const seen: string[] = [];
    const isWanted = await runJob(
      { ...QUICK, leases },
      {
        lease: 'one',
        begin({ work, signal }) {
          work('slow', {
            turn: async () => {
              leases.isWanted = true;
              await ended(signal);
              seen.push('turn');
            },
            ...QUIET,
          });
        },
        save: async () => void seen.push('saved'),
      },
    );
    expect([isWanted, seen, leases.holder]).toEqual([true, ['turn', 'saved'], undefined]);
  });

  it('ends with its last work, and at the deadline', async () => {
    const leases = new OneLease();
    let left = 3;
    const over: Job = {
      lease: 'one',
      begin: ({ work }) => work('few', { turn: async () => ((left -= 1) > 0 ? 0 : 'over'), ...QUIET }),
    };
    expect([await runJob({ ...QUICK, leases }, over), left]).toEqual([false, 0]);
    const endless: Job = { lease: 'one', begin: ({ work }) => work('endless', { turn: async () => 1, ...QUIET }) };
    // Clock: it is the deadline that is tested
    expect(await runJob({ ...QUICK, leases, deadline: Date.now() + 20 }, endless)).toBe(false);
  });

  it('ends at a bug of a work, which it throws once the others have ended', async () => {
    const leases = new OneLease();
    const seen: string[] = [];
    const run = runJob(
      { ...QUICK, leases },
      {
        lease: 'one',
        begin({ work, signal }) {
          work('other', { turn: async () => (await ended(signal), void seen.push('other')), ...QUIET });
          work('bug', {
            turn: () => Promise.reject(new TypeError('a bug')),
            everyMs: 1,
            failed: (error) => {
              throw error;
            },
          });
        },
      },
    );
    await expect(run).rejects.toThrow('a bug');
    expect([seen, leases.holder]).toEqual([['other'], undefined]);
  });
});

const ITEMS = 12;

/** A process that may die: from its n-th wait on, nothing that it asks comes back. */
class Mortal {
  isDead = false;
  waits = 0;
  readonly died: Promise<void>;
  readonly #diesAt: number;
  #die: () => void = () => undefined;

  constructor(diesAt: number) {
    this.#diesAt = diesAt;
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
  }

  async wait(): Promise<void> {
    this.waits += 1;
    if (this.waits < this.#diesAt) return;
    this.isDead = true;
    this.#die();
    await new Promise(() => undefined);
  }

  /** Runs an operation; the process may die before or after it. */
  async ask<T>(what: () => Promise<T>): Promise<T> {
    await this.wait();
    const answer = await what();
    await this.wait();
    return answer;
  }
}

/** The state that survives a process: the items done, the saved progress and its token. */
class World {
  readonly lease = new OneLease();
  readonly done: number[] = [];
  saved = { at: 0, token: 0 };

  job(process: Mortal): Job {
    let at = 0;
    return {
      lease: 'one',
      begin: async ({ work }) => {
        ({ at } = await process.ask(async () => this.saved));
        work('items', {
          turn: () =>
            process.ask(async () => {
              if (at >= ITEMS) return 'over';
              this.done.push(at + 1);
              at += 1;
              return 0;
            }),
          ...QUIET,
        });
        work('others', { turn: () => process.ask(async () => 'over' as const), ...QUIET });
      },
      save: ({ token }) =>
        process.ask(async () => {
          // Like a conditional write: a former lease holder does no harm.
          if (token >= this.saved.token) this.saved = { at, token };
        }),
    };
  }

  leasesOf(process: Mortal): Leases {
    const { lease } = this;
    return {
      take: (name) => process.ask(() => lease.take(name)),
      renew: (held) => process.ask(() => lease.renew(held)),
      release: (held) => process.ask(() => lease.release(held)),
    };
  }

  async run(process: Mortal): Promise<void> {
    const end = new AbortController();
    const running = runJob({ ...QUICK, leases: this.leasesOf(process), signal: end.signal }, this.job(process));
    await Promise.race([running, process.died]);
    // Nothing of it goes on, and it is silent, so that its lease expires.
    end.abort();
    if (process.isDead) this.lease.holder = undefined;
  }
}

describe('a job whose process dies', () => {
  it('is finished by the next one, whichever wait it dies at', async () => {
    const whole = new Mortal(Infinity);
    await new World().run(whole);
    expect(whole.waits).toBeGreaterThan(2 * ITEMS);
    for (let diesAt = 1; diesAt <= whole.waits + 1; diesAt += 1) {
      const world = new World();
      await world.run(new Mortal(diesAt));
      expect(world.saved.at, `saved at ${diesAt}`).toBeLessThanOrEqual(Math.max(0, ...world.done));
      await world.run(new Mortal(Infinity));
      expect(
        [...new Set(world.done)].toSorted((one, other) => one - other),
        `died at ${diesAt}`,
      ).toEqual(Array.from({ length: ITEMS }, (_, item) => item + 1));
      expect([world.saved.at, world.lease.holder]).toEqual([ITEMS, undefined]);
    }
  });
});

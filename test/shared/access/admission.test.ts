import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SchemalessError } from '../../../shared/errors.ts';
import { openAdmission } from '../../../shared/access/admission.ts';

const SETTINGS = { atOnce: 2, burstMs: 200, overloadMs: 20 };

/** Time passes as soon as everything waits for it, and not while anything is done. */
beforeEach(() => void vi.useFakeTimers().setTimerTickMode('nextTimerAsync'));
afterEach(() => void vi.useRealTimers());

// Clock: the faked one
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, milliseconds));
const now = (): number => performance.now(); // Clock: the faked one

function held() {
  const ends: (() => void)[] = [];
  return {
    work: () => new Promise<string>((resolve) => ends.push(() => resolve('done'))),
    end: () => ends.shift()?.(),
    running: () => ends.length,
  };
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'served',
    (error: unknown) => (error instanceof SchemalessError ? error.code : String(error)),
  );

describe('admission', () => {
  it('lets so many run at once, and a burst wait its turn in order', async () => {
    const admit = openAdmission(SETTINGS);
    const order: number[] = [];
    let most = 0;
    let running = 0;
    await Promise.all(
      Array.from({ length: 10 }, (_, number) =>
        admit('group-1', async () => {
          running += 1;
          most = Math.max(most, running);
          await pause(5);
          running -= 1;
          order.push(number);
        }),
      ),
    );
    expect(most).toBe(2);
    expect(order).toEqual([...order].sort((one, other) => one - other));
  });

  it('gives the places of work that has not ended within a burst to others, but not for ever', async () => {
    const admit = openAdmission(SETTINGS);
    const { work, running } = held();
    // Each pair waits for the one before it to be overdue; three times as many as have places may be.
    for (let pair = 1; pair <= 4; pair += 1) {
      void codeOf(admit('group-1', work));
      void codeOf(admit('group-1', work));
      await pause(SETTINGS.burstMs);
      expect(running()).toBe(2 * pair);
    }
    expect(await codeOf(admit('group-1', work))).toBe('overloaded');
    expect(running()).toBe(8);
    await expect(admit('group-2', async () => 'at once')).resolves.toBe('at once');
  });

  it('gives reads and writes of a group places apart', async () => {
    const admit = openAdmission(SETTINGS);
    const { work } = held();
    for (let write = 0; write < 20; write += 1) void codeOf(admit('group-1', work, 'writes'));
    expect(await codeOf(admit('group-1', async () => 'read', 'reads'))).toBe('served');
    expect(await codeOf(admit('group-1', async () => 'write', 'writes'))).toBe('overloaded');
  });

  it('gives the place of work that steps aside to others at once, up to so many', async () => {
    const admit = openAdmission(SETTINGS);
    const { work, running } = held();
    const aside = (stepAside: () => void): Promise<string> => (stepAside(), work());
    for (let count = 0; count < 8; count += 1) void codeOf(admit('group-1', aside));
    expect(running()).toBe(8);
    expect(await codeOf(admit('group-1', aside))).toBe('overloaded');
  });

  it('admits waiting work when running work becomes overdue, before its own time is up', async () => {
    const admit = openAdmission(SETTINGS);
    const { work } = held();
    void codeOf(admit('group-1', work));
    void codeOf(admit('group-1', work));
    await pause(SETTINGS.burstMs / 2);
    const begun = now();
    expect(await codeOf(admit('group-1', async () => 'in'))).toBe('served');
    expect(now() - begun).toBeLessThan(SETTINGS.burstMs);
  });

  it('refuses work that waited too long, before it begins, and goes on afterwards', async () => {
    const admit = openAdmission(SETTINGS);
    let begun = 0;
    const work = async (): Promise<void> => {
      begun += 1;
      await pause(60);
    };
    const start = now();
    const codes = await Promise.all(Array.from({ length: 30 }, () => codeOf(admit('group-1', work))));
    expect(now() - start).toBeGreaterThanOrEqual(SETTINGS.burstMs);
    const served = codes.filter((code) => code === 'served').length;
    expect(served).toBe(begun);
    expect(served).toBeLessThan(15);
    expect(codes.filter((code) => code === 'overloaded').length).toBe(30 - served);
    await expect(admit('group-1', async () => 'again')).resolves.toBe('again');
  });

  it('refuses work sooner when more than a burst arrives', async () => {
    const admit = openAdmission(SETTINGS);
    const work = () => pause(10);
    const waited: number[] = [];
    const start = now();
    while (now() - start < 900) {
      const begun = now();
      void codeOf(admit('group-1', work)).then((code) => {
        if (code === 'overloaded' && begun - start > 500) waited.push(now() - begun);
      });
      await pause(2);
    }
    await pause(SETTINGS.burstMs + 50);
    expect(waited.length).toBeGreaterThan(20);
    expect(waited.toSorted((one, other) => one - other)[Math.floor(waited.length / 2)]).toBeLessThan(
      SETTINGS.burstMs / 2,
    );
  });

  it('passes a turn on when work fails', async () => {
    const admit = openAdmission({ ...SETTINGS, atOnce: 1 });
    await expect(admit('group-1', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(admit('group-1', async () => 'next')).resolves.toBe('next');
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Lease, Leases } from '../../../shared/dynamo/lease.ts';
import { underLease, type LeasedWork } from '../../../shared/dynamo/under-lease.ts';
import { fakeTimeOfEach, passes } from '../../support/fake-time.ts';

const LEASE: Lease = { name: 'work', token: 7 };
const take = vi.fn<Leases['take']>();
const renew = vi.fn<Leases['renew']>();
const release = vi.fn<Leases['release']>();
let ending: AbortController;

fakeTimeOfEach();
beforeEach(() => {
  ending = new AbortController();
  take.mockResolvedValue(LEASE);
  renew.mockResolvedValue('held');
  release.mockResolvedValue();
});
afterEach(() => void vi.resetAllMocks());

const leased = (rest: Partial<LeasedWork> = {}): LeasedWork => ({
  leases: { take, renew, release },
  name: 'work',
  renewMs: 5,
  signal: ending.signal,
  ...rest,
});
const untilTold = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => {
    const told = (): void => resolve('told');
    if (signal.aborted) told();
    else signal.addEventListener('abort', told);
  });
/** Work under the lease, while far more time passes than it takes to renew and to retake it. */
async function worked<T>(rest: Partial<LeasedWork>, work: Parameters<typeof underLease<T>>[1]) {
  const [end] = await Promise.allSettled([underLease(leased(rest), work), passes(100)]);
  if (end.status === 'rejected') throw end.reason;
  return end.value;
}

describe('work under a lease', () => {
  it('has it, renews it, and gives it up once it is done', async () => {
    const ended = await underLease(leased(), async (_signal, lease) => {
      await passes(11);
      expect(renew).toHaveBeenCalledTimes(2);
      expect(release).not.toHaveBeenCalled();
      return lease.token;
    });
    expect(ended).toEqual({ result: 7, isWanted: false });
    expect(release).toHaveBeenCalledExactlyOnceWith(LEASE);
    const renewals = renew.mock.calls.length;
    await passes(100);
    expect(renew).toHaveBeenCalledTimes(renewals);
  });

  it('is not begun where another holds it: after one try, or until the signal comes', async () => {
    take.mockResolvedValue(undefined);
    const work = vi.fn<() => Promise<void>>();
    expect(await underLease(leased(), work)).toBeUndefined();
    expect(take).toHaveBeenCalledTimes(1);
    const waiting = underLease(leased({ takeEveryMs: 5 }), work);
    await passes(11);
    expect(take.mock.calls.length).toBeGreaterThan(3);
    ending.abort();
    expect(await waiting).toBeUndefined();
    expect(work).not.toHaveBeenCalled();
    expect(release).not.toHaveBeenCalled();
  });

  it('fails where the table cannot be asked for it, or asks again', async () => {
    take.mockRejectedValueOnce(new Error('unavailable'));
    await expect(underLease(leased({ takeEveryMs: 5 }), untilTold)).rejects.toThrow('unavailable');
    take.mockRejectedValueOnce(new Error('unavailable'));
    expect(await worked({ takeEveryMs: 5, isPatient: true }, async () => 'done')).toEqual({
      result: 'done',
      isWanted: false,
    });
  });

  it.each([
    ['lost', false],
    ['wanted', true],
  ] as const)('is told to end once it is %s', async (state, isWanted) => {
    renew.mockResolvedValueOnce('held').mockResolvedValueOnce(state);
    expect(await worked({}, untilTold)).toEqual({ result: 'told', isWanted });
    expect(release).toHaveBeenCalledTimes(1);
  });

  it('is told to end by the signal, and not renewed while it does', async () => {
    let renewals = 0;
    const ended = underLease(leased(), async (signal) => {
      await untilTold(signal);
      renewals = renew.mock.calls.length;
      await passes(100);
    });
    ending.abort();
    await ended;
    expect(renew).toHaveBeenCalledTimes(renewals);
  });

  it('that is exclusive keeps a successor waiting, is renewed while it comes to its end, and ends once it is lost', async () => {
    renew.mockResolvedValue('wanted');
    const ended = underLease(leased({ isExclusive: true }), async (signal) => {
      await passes(16);
      expect(renew.mock.calls.length).toBeGreaterThan(2);
      expect(signal.aborted).toBe(false);
      ending.abort();
      expect(signal.aborted).toBe(true);
      const renewals = renew.mock.calls.length;
      await passes(16);
      expect(renew.mock.calls.length).toBeGreaterThan(renewals + 1);
    });
    expect(await ended).toEqual({ result: undefined, isWanted: false });
    ending = new AbortController();
    renew.mockResolvedValue('lost');
    expect(await worked({ isExclusive: true }, untilTold)).toEqual({ result: 'told', isWanted: false });
  });

  it('is not ended by an unavailable table: renewals that fail, or hang, hold up no later one', async () => {
    renew
      .mockRejectedValueOnce(new Error('unavailable'))
      .mockReturnValueOnce(new Promise(() => undefined))
      .mockResolvedValueOnce('lost');
    release.mockRejectedValue(new Error('unavailable'));
    expect(await worked({}, untilTold)).toEqual({ result: 'told', isWanted: false });
    expect(renew).toHaveBeenCalledTimes(3);
  });

  it('that fails gives it up, and fails', async () => {
    await expect(underLease(leased(), () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(release).toHaveBeenCalledTimes(1);
  });
});

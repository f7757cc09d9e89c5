import { describe, expect, it } from 'vitest';
import { leases } from '../../../shared/dynamo/lease.ts';
import { sharedTable } from '../../support/shared-table.ts';

const DURATION_MS = 1000;
let clock = 0;

const table = await sharedTable();

const runner = (owner: string) => leases(table, owner, DURATION_MS, () => clock);

describe('a lease', () => {
  it('is held by one runner, however many try at once', async () => {
    const taken = await Promise.all(Array.from({ length: 8 }, (_, n) => runner(`racer ${n}`).take('race')));
    expect(taken.filter(Boolean)).toHaveLength(1);
  });

  it('is taken from a silent runner after its duration by the local clock, with a higher token', async () => {
    const [first, second] = [runner('first'), runner('second')];
    const lease = await first.take('silent');
    expect(lease?.token).toBe(1);
    expect(await second.take('silent')).toBeUndefined();
    clock += DURATION_MS - 1;
    expect(await second.take('silent')).toBeUndefined();
    clock += 1;
    const taken = await second.take('silent');
    expect(taken?.token).toBe(2);
    // The first runner wakes up: it has lost the lease and cannot release it.
    expect(lease && (await first.renew(lease))).toBe('lost');
    if (lease) await first.release(lease);
    expect(taken && (await second.renew(taken))).toBe('held');
  });

  it('that has expired is taken by one of those that try at once', async () => {
    await runner('gone').take('expired');
    const heirs = Array.from({ length: 8 }, (_, n) => runner(`heir ${n}`));
    await Promise.all(heirs.map((heir) => heir.take('expired')));
    clock += DURATION_MS;
    const taken = await Promise.all(heirs.map((heir) => heir.take('expired')));
    expect(taken.filter(Boolean)).toHaveLength(1);
  });

  it('is not taken while its holder renews it, and tells its holder that it is wanted', async () => {
    const [first, second] = [runner('holder'), runner('heir')];
    const lease = await first.take('wanted');
    if (!lease) throw new Error('not taken');
    expect(await first.renew(lease)).toBe('held');
    expect(await second.take('wanted')).toBeUndefined();
    for (let round = 0; round < 3; round += 1) {
      clock += DURATION_MS - 1;
      expect(await first.renew(lease)).toBe('wanted');
      expect(await second.take('wanted')).toBeUndefined();
    }
    await first.release(lease);
    const taken = await second.take('wanted');
    expect(taken?.token).toBe(2);
    expect(taken && (await second.renew(taken))).toBe('held');
  });
});

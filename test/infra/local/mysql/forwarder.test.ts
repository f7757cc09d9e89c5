import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ask, connectTo, firstGroup, withShardGroups } from './with-shard-groups.ts';

describe('forwarder faults, as a MySQL client sees them', () => {
  it('delays, refuses, swallows, cuts and drops, and recovers from each', async () => {
    await withShardGroups({ groups: [{ name: 'group-1', readers: 0 }] }, async ({ groups }) => {
      const group = firstGroup(groups);
      const endpoint = group.writerEndpoint;
      await ask(group, endpoint, 'CREATE DATABASE d');
      await ask(group, endpoint, 'CREATE TABLE d.t (id INT PRIMARY KEY)');
      const connection = await connectTo(group);

      endpoint.setFault({ kind: 'delay', milliseconds: 120 });
      const before = performance.now(); // Clock: no less than the delay, however slow the machine.
      await connection.query('SELECT 1');
      expect(performance.now() - before).toBeGreaterThan(115); // Clock: as above.

      endpoint.setFault({ kind: 'blackhole' });
      const held = connection.query('SELECT 2 AS two');
      const late = ask(group, endpoint, 'SELECT 3 AS three');
      // Clock: time in which a wrong answer would come; a slow machine takes longer for both.
      expect(await Promise.race([held, late, sleep(100, 'silence')])).toBe('silence');
      endpoint.setFault(undefined);
      expect((await held)[0]).toEqual([{ two: 2 }]);
      expect(await late).toEqual([{ three: 3 }]);

      endpoint.setFault({ kind: 'refuse' });
      await expect(connection.query('SELECT 1')).rejects.toThrow(/./);
      await expect(ask(group, endpoint, 'SELECT 1')).rejects.toThrow(/./);
      endpoint.setFault(undefined);
      await ask(group, endpoint, 'SELECT 1');

      // The server did both; the client learns of neither.
      endpoint.setFault({ kind: 'cut-answers', share: 1 });
      await expect(ask(group, endpoint, 'INSERT INTO d.t VALUES (1)')).rejects.toThrow(/./);
      endpoint.setFault({ kind: 'drop-answers', share: 1 });
      const unanswered = await connectTo(group);
      const outcome = unanswered.query({ sql: 'INSERT INTO d.t VALUES (2)', timeout: 300 });
      await expect(outcome).rejects.toThrow(/inactivity timeout/i);
      unanswered.destroy();
      endpoint.setFault({ kind: 'cut-answers', share: 0 });
      await expect
        .poll(() => ask(group, endpoint, 'SELECT GROUP_CONCAT(id ORDER BY id) AS ids FROM d.t'))
        .toEqual([{ ids: '1,2' }]);

      const forgotten = await connectTo(group);
      endpoint.forgetConnections();
      const known = await connectTo(group);
      await known.query('SELECT 1');
      await expect(forgotten.query('SELECT 1')).rejects.toThrow(/./);

      endpoint.setFault({ kind: 'cut-answers', share: 0.5 });
      const asked = Array.from({ length: 60 }, async () => await ask(group, endpoint, 'SELECT 1'));
      const cut = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected').length;
      expect(Math.abs(cut - 30)).toBeLessThan(20);
      endpoint.setFault(undefined);
      const [large] = await ask(group, endpoint, "SELECT REPEAT('x', 20000000) AS text");
      expect(large?.['text']).toHaveLength(20_000_000);

      expect(() => endpoint.setFault({ kind: 'cut-answers', share: 2 })).toThrow(
        'share: wanted a number from 0 to 1, got 2',
      );
      expect(() => endpoint.setFault({ kind: 'delay', milliseconds: -1 })).toThrow(
        'milliseconds: wanted 0 to 600000, got -1',
      );
    });
  });
});

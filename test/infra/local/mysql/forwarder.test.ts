import { describe, expect, it } from 'vitest';
import { ask, connectTo, firstGroup, withShardGroups } from './with-shard-groups.ts';

describe('forwarder faults, as a MySQL client sees them', () => {
  // `forwarder-processes.test.ts` tests faults outside of MySQL's packets.
  it('delays, cuts and drops answers, and recovers from each', async () => {
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

      endpoint.setFault({ kind: 'cut-answers', share: 0.5 });
      const asked = Array.from({ length: 60 }, async () => await ask(group, endpoint, 'SELECT 1'));
      const cut = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected').length;
      expect(Math.abs(cut - 30)).toBeLessThan(20);
      endpoint.setFault(undefined);
      const [large] = await ask(group, endpoint, "SELECT REPEAT('x', 20000000) AS text");
      expect(large?.['text']).toHaveLength(20_000_000);
    });
  });
});

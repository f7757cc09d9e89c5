import { describe, expect, it } from 'vitest';
import { ask, eventuallyValue, firstGroup, nodeNamed, settled, withShardGroups } from './with-shard-groups.ts';

const IDS = 'SELECT GROUP_CONCAT(id ORDER BY id) FROM d.t';
const TABLE = 'CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=InnoDB';
const MARK = 'INSERT INTO d.t VALUES (99)';

describe('a group restored to a position', () => {
  it('has what it had then, on all nodes, and goes on from there; it can be done again', async () => {
    await withShardGroups({ groups: [{ name: 'group-1', readers: 2 }] }, async ({ groups, lines }) => {
      const group = firstGroup(groups);
      const insert = (id: number) => ask(group, group.writerEndpoint, `INSERT INTO d.t VALUES (${id})`);
      await ask(group, group.writerEndpoint, 'CREATE DATABASE d');
      await ask(group, group.writerEndpoint, TABLE);
      await insert(1);
      // A history of two writers.
      await eventuallyValue(group, nodeNamed(groups, 'group-1-b'), IDS, '1');
      await eventuallyValue(group, nodeNamed(groups, 'group-1-c'), IDS, '1');
      await groups.promote('group-1');
      await insert(2);
      const first = (await groups.positions()).get('group-1') ?? '';
      for (const id of [3, 4, 5]) await insert(id);
      await settled(groups);

      await groups.restore('group-1', first, MARK);
      await eventuallyValue(group, group.writerEndpoint, IDS, '1,2,99');
      await insert(6);
      await settled(groups);
      for (const { node } of groups.status()) await eventuallyValue(group, nodeNamed(groups, node), IDS, '1,2,6,99');
      await eventuallyValue(group, group.readerEndpoint, IDS, '1,2,6,99');
      expect(lines.filter((line) => line.includes('holds transactions')).length).toBeGreaterThan(0);

      const second = (await groups.positions()).get('group-1') ?? '';
      await insert(7);
      await settled(groups);
      await groups.restore('group-1', second, 'DELETE FROM d.t WHERE id = 99');
      await insert(8);
      await settled(groups);
      for (const { node } of groups.status()) await eventuallyValue(group, nodeNamed(groups, node), IDS, '1,2,6,8');
    });
  });

  it('is as it was where that cannot be: no reader, or a place that its log does not have', async () => {
    await withShardGroups(
      {
        groups: [
          { name: 'group-1', readers: 1 },
          { name: 'group-2', readers: 0 },
        ],
      },
      async ({ groups }) => {
        const group = firstGroup(groups);
        await ask(group, group.writerEndpoint, 'CREATE DATABASE d');
        await ask(group, group.writerEndpoint, TABLE);
        const { 'group-2': other = '' } = Object.fromEntries(await groups.positions());
        await expect(groups.restore('group-2', other, MARK)).rejects.toThrow('group-2 has no reader');
        await expect(groups.restore('group-3', other, MARK)).rejects.toThrow('group: wanted one of group-1, group-2');
        await expect(groups.restore('group-1', 'nonsense', MARK)).rejects.toThrow(/./);
        await ask(group, group.writerEndpoint, 'INSERT INTO d.t VALUES (1)');
        await eventuallyValue(group, nodeNamed(groups, 'group-1-b'), IDS, '1');
        expect(nodeNamed(groups, 'group-1-a').role).toBe('writer');
      },
    );
  });
});

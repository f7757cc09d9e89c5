import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ShardGroup, ShardGroups } from '../../../../infra/local/mysql/shard-groups.ts';
import {
  ask,
  connectTo,
  eventuallyValue,
  firstGroup,
  nodeNamed,
  settled,
  withShardGroups,
} from './with-shard-groups.ts';

const IDS = 'SELECT GROUP_CONCAT(id ORDER BY id) FROM d.t';

describe('promotion', () => {
  it('keeps what the reader had, breaks old connections, and rebuilds a writer whose log went further', async () => {
    await withShardGroups({ groups: [{ name: 'group-1', readers: 2 }] }, async ({ groups, lines }) => {
      const group = firstGroup(groups);
      await ask(group, group.writerEndpoint, 'CREATE DATABASE d');
      await insert(group, 0);
      for (const node of group.nodes) await eventuallyValue(group, node, IDS, '0');

      // b and c stop receiving, c after b: c has more. The writer goes on, and dies with rows that no reader has.
      const b = nodeNamed(groups, 'group-1-b');
      await ask(group, b, receiving(groups, 'STOP'));
      await insert(group, 1);
      await eventuallyValue(group, nodeNamed(groups, 'group-1-c'), IDS, '0,1');
      await ask(group, nodeNamed(groups, 'group-1-c'), receiving(groups, 'STOP'));
      for (const id of [2, 3, 4]) await insert(group, id);

      const open = await connectTo(group);
      await groups.promote('group-1');
      await expect(open.query('SELECT 1')).rejects.toThrow(/./);
      expect(nodeNamed(groups, 'group-1-c').role).toBe('writer');
      // Numbers 2 to 4 of the old history are used again by the new one, and passed.
      for (const id of [12, 13, 14, 15, 16]) await insert(group, id);
      await settled(groups);
      for (const node of group.nodes) await eventuallyValue(group, node, IDS, '0,1,12,13,14,15,16');
      expect(lines.filter((line) => line.includes('rebuilt')).map((line) => line.slice(0, 40))).toEqual([
        expect.stringContaining('group-1-a'),
      ]);

      // And back: nothing was lost this time, so no node is rebuilt. The reader that is behind is passed over first.
      await ask(group, nodeNamed(groups, 'group-1-b'), receiving(groups, 'STOP'));
      await insert(group, 17);
      await eventuallyValue(group, nodeNamed(groups, 'group-1-a'), IDS, '0,1,12,13,14,15,16,17');
      await groups.promote('group-1');
      expect(nodeNamed(groups, 'group-1-a').role).toBe('writer');
      await insert(group, 18);
      await settled(groups);
      for (const node of group.nodes) await eventuallyValue(group, node, IDS, '0,1,12,13,14,15,16,17,18');
      expect(lines.filter((line) => line.includes('rebuilt'))).toHaveLength(1);
    });
  });

  it('takes over from a writer that is dead, paused or has lost its disk', async () => {
    await withShardGroups({}, async ({ groups, lines, dataDir }) => {
      const group = firstGroup(groups);
      await ask(group, group.writerEndpoint, 'CREATE DATABASE d');
      await insert(group, 1);
      await caughtUp(groups, group, '1');
      groups.pause('group-1-a');
      await groups.promote('group-1');
      await insert(group, 2);
      await settled(groups);
      await caughtUp(groups, group, '1,2');

      await groups.kill('group-1-b');
      await groups.promote('group-1');
      await insert(group, 3);
      await settled(groups);
      await caughtUp(groups, group, '1,2,3');
      expect(lines.filter((line) => line.includes('rebuilt'))).toHaveLength(0);

      await groups.kill('group-1-a');
      rmSync(join(dataDir, 'groups', 'group-1-a', 'data'), { recursive: true });
      await expect(groups.restart('group-1-a')).rejects.toThrow('its data folder is gone: promote group-1');
      await groups.promote('group-1');
      await insert(group, 4);
      await settled(groups);
      await caughtUp(groups, group, '1,2,3,4');
      expect(nodeNamed(groups, 'group-1-b').role).toBe('writer');
      expect(lines.filter((line) => line.includes('rebuilt'))).toHaveLength(1);
    });
  });
});

async function insert(group: ShardGroup, id: number): Promise<void> {
  await ask(group, group.writerEndpoint, 'CREATE TABLE IF NOT EXISTS d.t (id INT PRIMARY KEY)');
  await ask(group, group.writerEndpoint, `INSERT INTO d.t VALUES (${id})`);
}

function receiving(groups: ShardGroups, what: 'STOP' | 'START'): string {
  return `${what} ${groups.engine.kind === 'mysql' ? 'REPLICA' : 'SLAVE'} IO_THREAD`;
}

async function caughtUp(groups: ShardGroups, group: ShardGroup, ids: string): Promise<void> {
  for (const node of groups.status()) await eventuallyValue(group, node, IDS, ids);
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startShardGroups, type ShardGroupsOptions } from '../../../../infra/local/mysql/shard-groups.ts';
import {
  ask,
  eventuallyValue,
  firstGroup,
  killServersOn,
  nodeNamed,
  serversOn,
  settled,
  smallGroups,
  withFolder,
} from './with-shard-groups.ts';

const STACK = fileURLToPath(new URL('./start-and-wait.ts', import.meta.url));

describe('a data folder, used again', () => {
  it('takes over the servers of a killed stack, keeps data, roles and passwords, and admits no other user', async () => {
    await withFolder(async (dataDir) => {
      const stack = spawn(process.execPath, [STACK, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(stack.stdout, 'data');
      await expect(startShardGroups(smallGroups(dataDir))).rejects.toThrow(`is in use by process ${stack.pid ?? 0}`);
      stack.kill('SIGKILL');
      await once(stack, 'exit');
      const orphans = serversOn(dataDir);
      expect(orphans).toHaveLength(2);

      const lines: string[] = [];
      const groups = await startShardGroups(smallGroups(dataDir, { log: (line) => lines.push(line) }));
      expect(lines.join('\n')).toContain('2 servers of an earlier run');
      expect(serversOn(dataDir)).toHaveLength(2);
      expect(serversOn(dataDir).filter((pid) => orphans.includes(pid))).toEqual([]);
      const group = firstGroup(groups);
      // The child had promoted b and written on it.
      expect(nodeNamed(groups, 'group-1-b').role).toBe('writer');
      for (const node of group.nodes) await eventuallyValue(group, node, 'SELECT COUNT(*) FROM d.t', 1);

      // Everything dies at once.
      await killServersOn(dataDir);
      await groups.stop();
      const readers = (first: number): Partial<ShardGroupsOptions> => ({
        groups: [
          { name: 'group-1', readers: first },
          { name: 'group-2', readers: 0 },
        ],
      });
      const again = await startShardGroups(smallGroups(dataDir, readers(2)));
      try {
        const back = firstGroup(again);
        expect(back.password).toBe(group.password);
        expect(back.writerEndpoint.host).toBe(group.writerEndpoint.host);
        await ask(back, back.writerEndpoint, 'INSERT INTO d.t VALUES (2)');
        for (const node of back.nodes) await eventuallyValue(back, node, 'SELECT COUNT(*) FROM d.t', 2);
        await settled(again);
      } finally {
        await again.stop();
      }
      const { groups: [one = { name: '', readers: 0 }] = [] } = readers(2);
      await expect(startShardGroups(smallGroups(dataDir, { groups: [one] }))).rejects.toThrow(
        'wanted group-2 among them, got group-1',
      );
      await expect(startShardGroups(smallGroups(dataDir, readers(1)))).rejects.toThrow('readers: ');
    });
  });

  it('refuses a folder of the other engine', async () => {
    await withFolder(async (dataDir) => {
      const file = join(dataDir, 'groups', 'groups.json');
      for (const kind of ['mysql', 'mariadb']) {
        mkdirSync(join(dataDir, 'groups'), { recursive: true });
        writeFileSync(
          file,
          JSON.stringify({ engine: { kind, version: '999.0.0' }, network: { second: 1, third: 1 }, groups: {} }),
        );
        await expect(startShardGroups(smallGroups(dataDir))).rejects.toThrow(
          /engine: .*(wanted (mysql|mariadb), got|too old to read)/,
        );
        expect(readFileSync(file, 'utf8')).toContain('999');
      }
    });
  });
});

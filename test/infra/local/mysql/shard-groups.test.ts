import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  ask,
  connectTo,
  eventuallyValue,
  firstGroup,
  nodeNamed,
  settled,
  withShardGroups,
} from './with-shard-groups.ts';

describe('shard groups', () => {
  it('replicates to every reader, with durable settings, and dies and comes back with its data', async () => {
    const groups = [
      { name: 'group-1', readers: 2 },
      { name: 'group-2', readers: 0 },
    ];
    await withShardGroups({ groups, restartAfterSeconds: 1 }, async ({ groups, dataDir }) => {
      const group = firstGroup(groups);
      await ask(group, group.writerEndpoint, 'CREATE DATABASE d');
      await ask(group, group.writerEndpoint, 'CREATE TABLE d.t (id INT PRIMARY KEY)');
      await ask(group, group.writerEndpoint, 'INSERT INTO d.t VALUES (1)');
      for (const node of group.nodes) await eventuallyValue(group, node, 'SELECT COUNT(*) FROM d.t', 1);
      for (const endpoint of group.instanceEndpoints)
        await eventuallyValue(group, endpoint, 'SELECT COUNT(*) FROM d.t', 1);
      expect(group.readerEndpoint.port).toBe(group.writerEndpoint.port);
      expect(group.readerEndpoint.host).not.toBe(group.writerEndpoint.host);

      const wanted = {
        sync_binlog: 1,
        innodb_flush_log_at_trx_commit: 1,
        binlog_format: 'ROW',
        binlog_row_image: 'MINIMAL',
        log_bin: 1,
        binlog_expire_logs_seconds: 0,
        innodb_lock_wait_timeout: 1,
        lock_wait_timeout: 1,
        time_zone: '+00:00',
        max_allowed_packet: 64 * 1024 * 1024,
        character_set_server: 'utf8mb4',
        performance_schema: 0,
        bind_address: '127.0.0.1',
        skip_name_resolve: 1,
      };
      const names = Object.keys(wanted)
        .map((name) => `@@global.${name} AS ${name}`)
        .join(', ');
      for (const node of group.nodes) expect((await ask(group, node, `SELECT ${names}`))[0]).toEqual(wanted);
      const ids = await Promise.all(
        group.nodes.map(async (node) => (await ask(group, node, 'SELECT @@server_id AS id'))[0]?.['id']),
      );
      expect(new Set(ids).size).toBe(3);
      const limits = 'SELECT @@max_connections >= 500 AND @@table_open_cache >= 2000 AS enough';
      expect(await ask(group, group.writerEndpoint, limits)).toEqual([{ enough: 1 }]);
      await expect(ask(group, group.readerEndpoint, 'INSERT INTO d.t VALUES (2)')).rejects.toThrow(/read.only/);
      await expect(ask(group, nodeNamed(groups, 'group-1-b'), 'INSERT INTO d.t VALUES (2)')).rejects.toThrow(
        /read.only/,
      );
      const seen = new Set<unknown>();
      for (let n = 0; n < 6; n += 1)
        seen.add((await ask(group, group.readerEndpoint, 'SELECT @@server_id AS id'))[0]?.['id']);
      expect(seen).toEqual(new Set(ids.slice(1)));
      // Without readers, their address leads to the writer.
      const alone = groups.groups[1] ?? group;
      await ask(alone, alone.readerEndpoint, 'CREATE DATABASE e');

      await expect(connectTo({ ...group, user: 'root', password: '' })).rejects.toThrow(/./);
      expect(statSync(join(dataDir, 'groups', 'passwords.json')).mode & 0o777).toBe(0o600);

      const changes: string[] = [];
      groups.onChange(() => changes.push(nodeNamed(groups, 'group-1-a').state));
      for (const name of ['group-1-b', 'group-1-a']) {
        const before = nodeNamed(groups, name);
        await groups.kill(name);
        expect(nodeNamed(groups, name)).toMatchObject({ state: 'down', pid: 0, port: before.port });
        const endpoint = name === 'group-1-a' ? group.writerEndpoint : group.instanceEndpoints[1];
        await expect(ask(group, endpoint ?? group.writerEndpoint, 'SELECT 1')).rejects.toThrow(/./);
        await settled(groups);
        expect(nodeNamed(groups, name).pid).not.toBe(before.pid);
        expect(nodeNamed(groups, name).port).toBe(before.port);
      }
      expect(changes).toEqual(expect.arrayContaining(['down', 'starting', 'running']));
      await ask(group, group.writerEndpoint, 'INSERT INTO d.t VALUES (3)');
      for (const node of group.nodes)
        await eventuallyValue(group, node, 'SELECT GROUP_CONCAT(id ORDER BY id) FROM d.t', '1,3');
    });
  });

  it('leaves a dead server down when it is told to, and starts it on request; pauses and resumes', async () => {
    await withShardGroups({}, async ({ groups, dataDir }) => {
      const group = firstGroup(groups);
      await groups.kill('group-1-b');
      leaveTrial(join(dataDir, 'groups', 'group-1-b'));
      await expect(ask(group, group.readerEndpoint, 'SELECT 1')).rejects.toThrow(/./);
      await expect(groups.promote('group-1')).rejects.toThrow('no reader that could be promoted: group-1-b is down');
      await ask(group, group.writerEndpoint, 'CREATE DATABASE d');
      expect(nodeNamed(groups, 'group-1-b').state).toBe('down');
      await groups.restart('group-1-b');
      await expect(groups.restart('group-1-b')).rejects.toThrow('only a node that is down');
      await expect(groups.add([{ name: 'group-1', readers: 0 }])).rejects.toThrow('got one twice');
      await eventuallyValue(group, group.readerEndpoint, "SHOW DATABASES LIKE 'd'", 'd');

      groups.pause('group-1-b');
      expect(nodeNamed(groups, 'group-1-b').state).toBe('paused');
      await ask(group, group.writerEndpoint, 'CREATE DATABASE e');
      groups.resume('group-1-b');
      await eventuallyValue(group, group.readerEndpoint, "SHOW DATABASES LIKE 'e'", 'e');
      groups.pause('group-1-a');
      expect(() => groups.pause('group-9-a')).toThrow('node: wanted one of group-1-a, group-1-b, got group-9-a');
    });
  });
});

/**
 * Leaves the file of a MySQL server that was killed while it tested whether its replication can write. MySQL does not
 * replicate while that file exists.
 */
function leaveTrial(folder: string): void {
  const identity = join(folder, 'data', 'auto.cnf');
  const [, uuid = 'unknown'] =
    /server-uuid=(\S+)/.exec(existsSync(identity) ? readFileSync(identity, 'utf8') : '') ?? [];
  writeFileSync(join(folder, 'tmp', `SQL_LOAD-${uuid}`), '');
}

import { readdirSync, statSync } from 'node:fs';
import { PATIENCE_MS } from '../../../support/until.ts';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  firstGroup,
  ask,
  eventually,
  eventuallyValue,
  serversOn,
  smallGroups,
  withFolder,
} from './with-shard-groups.ts';
import { startShardGroups, type ShardGroups } from '../../../../infra/local/mysql/shard-groups.ts';
import type { ServerSize } from '../../../../infra/local/mysql/server-size.ts';
import { words } from '../../../support/words.ts';

/** An empty MySQL has a catalogue of 29 MB, two undo files and a buffer for torn pages; MariaDB next to nothing. */
const MOST_EMPTY_MB = { mariadb: 20, mysql: 60 };

/** What must be the same for either size: all that decides what a commit is worth, and what is copied how. */
const PROMISES = words(`
  sync_binlog innodb_flush_log_at_trx_commit innodb_doublewrite innodb_page_size innodb_lock_wait_timeout
  max_allowed_packet max_connections binlog_format log_bin relay_log_recovery time_zone transaction_isolation
  tx_isolation sql_mode innodb_log_file_size innodb_stats_persistent`);

async function promisesOf(groups: ShardGroups): Promise<unknown> {
  const group = firstGroup(groups);
  const names = PROMISES.map((name) => `'${name}'`).join(', ');
  const rows = await ask(group, group.writerEndpoint, `SHOW GLOBAL VARIABLES WHERE Variable_name IN (${names})`);
  return Object.fromEntries(rows.map(({ Variable_name: name, Value: value }) => [String(name), String(value)]));
}

it('servers keep their data and their promises when they become small, and full again, whatever ended them', async () => {
  await withFolder(async (dataDir) => {
    let rows = 0;
    let promises: unknown;
    const sizes: readonly ServerSize[] = ['full', 'small', 'small', 'full'];
    for (const size of sizes) {
      const groups = await startShardGroups(smallGroups(dataDir, { size }));
      try {
        const group = firstGroup(groups);
        const at = group.writerEndpoint;
        promises ??= await promisesOf(groups);
        expect(promises).toMatchObject({ sync_binlog: '1', innodb_flush_log_at_trx_commit: '1' });
        expect(await promisesOf(groups), size).toEqual(promises);
        if (rows === 0) {
          await ask(group, at, 'CREATE DATABASE d');
          await ask(group, at, 'CREATE TABLE d.t (a INT PRIMARY KEY, b LONGBLOB)');
        }
        for (const node of group.nodes) await eventuallyValue(group, node, 'SELECT COUNT(*) FROM d.t', rows);
        rows += 1;
        // More at once than what a small server keeps in memory of its log, or of pages.
        await ask(group, at, `INSERT INTO d.t VALUES (${rows}, REPEAT('x', 32 * 1024 * 1024))`, PATIENCE_MS);
        for (const pid of serversOn(dataDir)) process.kill(pid, 'SIGKILL');
        await eventually('all is dead', () => serversOn(dataDir).length === 0);
      } finally {
        await groups.stop();
      }
    }
    const groups = await startShardGroups(smallGroups(dataDir, { size: 'small' }));
    try {
      const group = firstGroup(groups);
      for (const node of group.nodes)
        await eventuallyValue(group, node, 'SELECT SUM(LENGTH(b)) / 1048576 FROM d.t', `${32 * rows}.0000`);
    } finally {
      await groups.stop();
    }
  });
});

it('an empty small server takes little of the disk', async () => {
  await withFolder(async (dataDir) => {
    const groups = await startShardGroups(smallGroups(dataDir, { size: 'small' }));
    const most = MOST_EMPTY_MB[groups.engine.kind];
    await groups.stop();
    for (const node of ['group-1-a', 'group-1-b']) {
      const folder = join(dataDir, 'groups', node);
      const taken = readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce(
        (sum, name) => sum + statSync(join(folder, name)).blocks * 512,
        0,
      );
      expect(taken / 1e6, node).toBeLessThan(most);
    }
  });
});

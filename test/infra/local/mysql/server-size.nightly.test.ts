import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startShardGroups, type ShardGroups } from '../../../../infra/local/mysql/shard-groups.ts';
import type { ServerSize } from '../../../../infra/local/mysql/node-status.ts';
import { PATIENCE_MS } from '../../../support/until.ts';
import { words } from '../../../support/words.ts';
import { ask, eventuallyValue, firstGroup, killServersOn, smallGroups, withFolder } from './with-shard-groups.ts';

/** An empty MySQL has a catalogue of 29 MB, two undo files and a buffer for torn pages; MariaDB next to nothing. */
const MOST_EMPTY_MB = { mariadb: 20, mysql: 60 };

/** Settings that must be equal for both sizes: they decide the durability of a commit, and the replication. */
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
    let promises: unknown;
    const sizes: readonly ServerSize[] = ['full', 'small', 'full'];
    for (const [rows, size] of sizes.entries()) {
      const groups = await startShardGroups(smallGroups(dataDir, { size }));
      try {
        const group = firstGroup(groups);
        const at = group.writerEndpoint;
        promises ??= await promisesOf(groups);
        expect(promises).toMatchObject({ sync_binlog: '1', innodb_flush_log_at_trx_commit: '1' });
        expect(await promisesOf(groups), size).toEqual(promises);
        await ask(group, at, 'CREATE DATABASE IF NOT EXISTS d');
        await ask(group, at, 'CREATE TABLE IF NOT EXISTS d.t (a INT PRIMARY KEY, b LONGBLOB)');
        const sum = 'SELECT CAST(COALESCE(SUM(LENGTH(b)), 0) AS CHAR) FROM d.t';
        for (const node of group.nodes) await eventuallyValue(group, node, sum, String(rows * 32 * 1024 * 1024));
        // More at once than what a small server keeps in memory of its log, or of pages.
        await ask(group, at, `INSERT INTO d.t VALUES (${rows}, REPEAT('x', 32 * 1024 * 1024))`, PATIENCE_MS);
        await killServersOn(dataDir);
      } finally {
        await groups.stop();
      }
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
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
      const taken = files.reduce((sum, file) => sum + statSync(file).blocks * 512, 0);
      expect(taken / 1e6, node).toBeLessThan(most);
    }
  });
});

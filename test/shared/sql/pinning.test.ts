import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { writeHealthCheck } from '../../../shared/sql/statements/write-health-check.ts';
import { clientTo, groupAccess } from '../../support/connection-to.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { startRelay } from '../../support/relay.ts';
import { transactionsOf } from '../../support/wrapped-client.ts';

/** Variables that do not pin a session ("Avoiding pinning an RDS Proxy", what it tracks for RDS for MySQL). */
const TRACKED =
  /^(?:autocommit|auto_increment_increment|character_set_\w+|collation_\w+|interactive_timeout|net_write_timeout|sql_mode|time_zone|transaction_isolation|transaction_read_only|wait_timeout)$/iu;
const SET = /(?:\bSET|,)\s+(?:SESSION|GLOBAL|LOCAL)\s+(\w+)|\bSET\s+@+(?:SESSION\.|GLOBAL\.)?(\w+)/giu;

const variablesIn = (text: string): readonly string[] =>
  [...text.matchAll(SET)].map(([, name, variable]) => name ?? variable ?? '');
const pinning = (text: string): readonly string[] => variablesIn(text).filter((name) => !TRACKED.test(name));

await sharedTrips(1);

it('a session sets nothing for which RDS Proxy pins its connection', async () => {
  let sent = '';
  const access = groupAccess();
  const forwards = () => (chunk: Buffer) => {
    sent += chunk.toString('latin1');
    return true;
  };
  await using relay = await startRelay({ to: () => access.writer, forwards });
  const client = clientTo({ ...access, writer: relay.endpoint });
  const [asked, refused] = [
    { sql: 'DO 1', parameters: [] },
    { sql: 'DO no_such_function()', parameters: [] },
  ];
  await client.select({ sql: 'SELECT 1', parameters: [] }, 'writer');
  await client.change(writeHealthCheck());
  const { run } = transactionsOf(client);
  await run([asked]);
  await run([asked, asked]);
  await expect(run([asked, refused])).rejects.toMatchObject({ failure: 'rejected' });
  await client.close();
  expect(new Set(variablesIn(sent))).toEqual(new Set(['wait_timeout']));
});

it('no other statement of the store sets anything for which it would', () => {
  const files = globSync(['shared/**/*.ts', 'functions/**/*.ts']);
  expect(files.filter((file) => pinning(readFileSync(file, 'utf8')).length > 0)).toEqual([]);
});

it('a variable that pins is found: the control', () => {
  expect(pinning('SET SESSION innodb_lock_wait_timeout = 1')).toEqual(['innodb_lock_wait_timeout']);
  expect(pinning('SET SESSION wait_timeout = 40, SESSION lock_wait_timeout = 1')).toEqual(['lock_wait_timeout']);
  expect(pinning('SET @mine = 1')).toEqual(['mine']);
});

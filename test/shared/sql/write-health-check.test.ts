import { expect, it } from 'vitest';
import { writeHealthCheck } from '../../../shared/sql/statements/write-health-check.ts';
import { clientTo, connectionTo } from '../../support/connection-to.ts';
import { sharedTrips } from '../../support/open-trips.ts';

/** ER_LOCK_WAIT_TIMEOUT */
const LOCK_WAIT = 1205;

await sharedTrips(1);

it('a health check that a stalled server cannot do leaves it after a second: none adds up there to the next', async () => {
  const client = clientTo(undefined, { queryTimeoutMs: 20_000 });
  const holder = await connectionTo();
  await client.change(writeHealthCheck());
  await holder.query('LOCK TABLES `schemaless`.health_check WRITE');
  await expect(client.change(writeHealthCheck())).rejects.toMatchObject({ errno: LOCK_WAIT });
  await holder.end();
  await client.change(writeHealthCheck());
  await client.close();
});

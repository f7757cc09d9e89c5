import { expect, it } from 'vitest';
import { LOCK_WAIT } from '../../../shared/sql/client.ts';
import { writeHealthCheck } from '../../../shared/sql/statements/write-health-check.ts';
import { connectionTo, sharedClient } from '../../support/connection-to.ts';
import { sharedTrips } from '../../support/open-trips.ts';

await sharedTrips(1);
const client = sharedClient(undefined, { queryTimeoutMs: 20_000 });

it('a health check that a stalled server cannot do leaves it after a second: none adds up there to the next', async () => {
  const holder = await connectionTo();
  await client.change(writeHealthCheck());
  await holder.query('LOCK TABLES `schemaless`.health_check WRITE');
  await expect(client.change(writeHealthCheck())).rejects.toMatchObject({ errno: LOCK_WAIT });
  await holder.end();
  await client.change(writeHealthCheck());
});

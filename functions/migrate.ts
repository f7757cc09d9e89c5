import { connectorOf } from '#connector';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { CdkCustomResourceEvent, CdkCustomResourceIsCompleteEvent, CdkCustomResourceIsCompleteResponse, CdkCustomResourceResponse, Context } from 'aws-lambda';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { leases, type Lease, type Leases } from '../shared/dynamo/lease.ts';
import { STORE_VARIABLES } from '../shared/environment.ts';
import { migrate } from '../shared/migrate/migrate.ts';
import { readConfig } from './environment/config.ts';
import { dynamoClient } from './environment/dynamo.ts';
import { logger } from './environment/log.ts';
import { readWish } from './environment/migration-properties.ts';
import { userPasswords } from './environment/user-passwords.ts';

/** Constant, so that CloudFormation never thinks that a migration was replaced and the old one has to be deleted. */
const PHYSICAL_ID = 'schemaless-migration';
/** Before the function's time limit: enough to finish the statements under way. */
const TIME_TO_END_MS = 20_000;
/** Creating a database may take long on a busy cluster. */
const STATEMENT_MS = 60_000;
/** One migration at a time; one that was cut off is succeeded after this time. */
const LEASE_MS = 10_000;
const RENEW_MS = 2000;
const TAKE_PAUSE_MS = 500;

/** Nothing is done here, so that the work may take many calls of `isComplete`. Delete and rollback change nothing. */
export async function onEvent(event: CdkCustomResourceEvent): Promise<CdkCustomResourceResponse> {
  if (event.RequestType !== 'Delete') readWish(event.ResourceProperties);
  return { PhysicalResourceId: PHYSICAL_ID };
}

/** Works until everything is done, or the function's time is nearly up; it is then called again. */
export async function isComplete(event: CdkCustomResourceIsCompleteEvent, lambda: Context): Promise<CdkCustomResourceIsCompleteResponse> {
  if (event.RequestType === 'Delete') return { IsComplete: true };
  const config = readConfig(STORE_VARIABLES);
  const wish = readWish(event.ResourceProperties);
  const dynamo = dynamoClient();
  const deadline = Date.now() + lambda.getRemainingTimeInMillis() - TIME_TO_END_MS;

  const leasing = leases({ client: dynamo, table: config.stateTable }, randomUUID(), LEASE_MS);
  const lease = await takeLease(leasing, deadline);
  // Another migration is still at work: look again when called again.
  if (!lease) return { IsComplete: false };
  const state = { held: true };
  const renewing = setInterval(() => {
    leasing.renew(lease).then(
      (held) => {
        state.held &&= held !== 'lost';
      },
      () => undefined,
    );
  }, RENEW_MS);
  try {
    const done = await migrate({
      topologyTable: { client: dynamo, table: config.topologyTable },
      stateTable: { client: dynamo, table: config.stateTable },
      connect: connectorOf(config.access).open(config, { statementMs: STATEMENT_MS }),
      wish,
      passwords: userPasswords(new SecretsManagerClient()),
      bufferCopies: config.bufferCopies,
      mayGoOn: () => state.held && Date.now() < deadline,
    });
    logger.info('migrated', { done, groups: wish.groups.length, datastores: wish.datastores.map(({ name, shards, indexes, triggers }) => ({ name, shards, indexes: indexes.map((index) => index.name), triggers: triggers?.map(({ definition }) => definition.name) })) });
    return { IsComplete: done };
  } finally {
    clearInterval(renewing);
    await leasing.release(lease);
  }
}

/** Waits within this call: whether a silent holder is gone can only be told by watching its lease. */
async function takeLease(leasing: Leases, deadline: number): Promise<Lease | undefined> {
  while (Date.now() < deadline) {
    const lease = await leasing.take('migrate');
    if (lease) return lease;
    await sleep(TAKE_PAUSE_MS);
  }
  return undefined;
}

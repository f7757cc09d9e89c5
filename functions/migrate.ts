import { connectorOf } from '#connector';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type {
  CdkCustomResourceEvent,
  CdkCustomResourceIsCompleteEvent,
  CdkCustomResourceIsCompleteResponse,
  CdkCustomResourceResponse,
  Context,
} from 'aws-lambda';
import { randomUUID } from 'node:crypto';
import { leases } from '../shared/dynamo/lease.ts';
import { underLease } from '../shared/dynamo/under-lease.ts';
import { STORE_VARIABLES } from '../shared/environment.ts';
import { migrate, type Migration } from '../shared/migrate/migrate.ts';
import { SqlError } from '../shared/sql/client.ts';
import { readConfig } from './environment/config.ts';
import { dynamoClient } from './environment/dynamo.ts';
import { logger } from './environment/log.ts';
import { readWish } from './environment/migration-properties.ts';
import { userLogins } from './environment/user-logins.ts';

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
export async function isComplete(
  event: CdkCustomResourceIsCompleteEvent,
  lambda: Context,
): Promise<CdkCustomResourceIsCompleteResponse> {
  if (event.RequestType === 'Delete') return { IsComplete: true };
  const config = readConfig(STORE_VARIABLES);
  const wish = readWish(event.ResourceProperties);
  const dynamo = dynamoClient();
  const deadline = Date.now() + lambda.getRemainingTimeInMillis() - TIME_TO_END_MS;

  const signal = AbortSignal.timeout(Math.max(0, deadline - Date.now()));
  const leasing = leases({ client: dynamo, table: config.stateTable }, randomUUID(), LEASE_MS);
  // It waits within this call: whether a silent holder is gone can only be told by watching its lease.
  const leased = {
    leases: leasing,
    name: 'migrate',
    renewMs: RENEW_MS,
    takeEveryMs: TAKE_PAUSE_MS,
    isExclusive: true,
    signal,
  };
  const ended = await underLease(leased, (held) =>
    unlessAway({
      topologyTable: { client: dynamo, table: config.topologyTable },
      stateTable: { client: dynamo, table: config.stateTable },
      connect: connectorOf(config.access).open(config, { statementMs: STATEMENT_MS }),
      wish,
      logins: userLogins(config.databaseAuth, new SecretsManagerClient()),
      bufferCopies: config.bufferCopies,
      mayGoOn: () => !held.aborted,
    }),
  );
  // Another migration is still at work, or a group is not there yet: look again when called again.
  if (!ended) return { IsComplete: false };
  logger.info('migrated', {
    done: ended.result,
    groups: wish.groups.length,
    datastores: wish.datastores.map(({ name, shards, indexes, triggers }) => ({
      name,
      shards,
      indexes: indexes.map((index) => index.name),
      triggers: triggers.map(({ definition }) => definition.name),
    })),
  });
  return { IsComplete: ended.result };
}

/**
 * A cluster, or the proxy before it, may still be starting when it was made in the same deployment: the migration waits for
 * it, until the deployment's own time is up. Not for one that refuses it by a word of its own.
 */
async function unlessAway(migration: Migration): Promise<boolean> {
  try {
    return await migrate(migration);
  } catch (error) {
    if (!(error instanceof SqlError) || error.failure !== 'unreachable' || error.errno !== 0) throw error;
    logger.warn('migration_waits', { error });
    return false;
  }
}

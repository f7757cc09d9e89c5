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
import { readDesiredState } from './environment/migration-properties.ts';
import { userLogins } from './environment/credentials.ts';

/** Constant: if it changed, CloudFormation would see a replacement, and delete the old resource. */
const PHYSICAL_ID = 'schemaless-migration';
/** Before the time limit: finishes open statements. */
const TIME_TO_END_MS = 20_000;
/** A busy cluster may take long to create a database. */
const STATEMENT_MS = 60_000;
/** Migrations run one at a time; after a kill the next one starts after this time. */
const LEASE_MS = 10_000;
const RENEW_MS = 2000;
const TAKE_PAUSE_MS = 500;

/** Only validates, so that the work may take many calls of `isComplete`. Delete and rollback change nothing. */
export async function onEvent(event: CdkCustomResourceEvent): Promise<CdkCustomResourceResponse> {
  if (event.RequestType !== 'Delete') readDesiredState(event.ResourceProperties);
  return { PhysicalResourceId: PHYSICAL_ID };
}

/** Works until everything is done or the time limit is near; CloudFormation then calls it again. */
export async function isComplete(
  event: CdkCustomResourceIsCompleteEvent,
  lambda: Context,
): Promise<CdkCustomResourceIsCompleteResponse> {
  if (event.RequestType === 'Delete') return { IsComplete: true };
  const config = readConfig(STORE_VARIABLES);
  const desired = readDesiredState(event.ResourceProperties);
  const dynamo = dynamoClient();
  const deadline = Date.now() + lambda.getRemainingTimeInMillis() - TIME_TO_END_MS;

  const signal = AbortSignal.timeout(Math.max(0, deadline - Date.now()));
  const leasing = leases({ client: dynamo, table: config.stateTable }, randomUUID(), LEASE_MS);
  // Waits within this call: only watching a lease shows that its owner has ended.
  const leased = {
    leases: leasing,
    name: 'migrate',
    renewMs: RENEW_MS,
    takeEveryMs: TAKE_PAUSE_MS,
    isExclusive: true,
    signal,
  };
  const ended = await underLease(leased, (held) =>
    unlessUnavailable({
      topologyTable: { client: dynamo, table: config.topologyTable },
      stateTable: { client: dynamo, table: config.stateTable },
      connect: connectorOf(config.access).open(config, { statementMs: STATEMENT_MS }),
      desired,
      logins: userLogins(config.databaseAuth, new SecretsManagerClient()),
      bufferCopies: config.bufferCopies,
      mayGoOn: () => !held.aborted,
    }),
  );
  // Another migration runs, or a group is not ready.
  if (!ended) return { IsComplete: false };
  logger.info('migrated', {
    done: ended.result,
    groups: desired.groups.length,
    datastores: desired.datastores.map(({ name, shards, indexes, triggers }) => ({
      name,
      shards,
      indexes: indexes.map((index) => index.name),
      triggers: triggers.map(({ definition }) => definition.name),
    })),
  });
  return { IsComplete: ended.result };
}

/** Waits for a cluster or proxy that may still be starting, unless MySQL itself refuses. */
async function unlessUnavailable(migration: Migration): Promise<boolean> {
  try {
    return await migrate(migration);
  } catch (error) {
    if (!(error instanceof SqlError) || error.failure !== 'unreachable' || error.errno !== 0) throw error;
    logger.warn('migration waits', { error });
    return false;
  }
}

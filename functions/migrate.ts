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
import { setState } from '../shared/dynamo/state-table.ts';
import { migrate } from '../shared/migrate/migrate.ts';
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
/** From a deployment's start, by the clock. CloudFormation gives up after an hour, without the reason. */
const GIVE_UP_MS = 50 * 60_000;
/** Of the last call. */
const END_MS = 55 * 60_000;
/** IAM spreads new rights within minutes. */
const FRESH_RIGHTS_MS = 5 * 60_000;
const DENIED = new Set(['AccessDeniedException', 'ForbiddenException']);
/** MySQL's ER_ACCESS_DENIED_ERROR. */
const LOGIN_DENIED = 1045;
/** The start of the latest deployment. */
const LATEST = 'migration';

interface Started {
  /** Milliseconds since 1970. */
  readonly started: number;
}

/** Only validates, so that the work may take many calls of `isComplete`. Delete and rollback change nothing. */
export async function onEvent(event: CdkCustomResourceEvent): Promise<CdkCustomResourceResponse<Started>> {
  if (event.RequestType !== 'Delete') readDesiredState(event.ResourceProperties);
  return { PhysicalResourceId: PHYSICAL_ID, Data: { started: Date.now() } };
}

type Deployment = CdkCustomResourceIsCompleteEvent<object, Started>;

/**
 * Works until everything is done or the time limit is near; CloudFormation then calls it again. Throws the reason once
 * the deployment has taken too long, or if a later one replaces it.
 */
export async function isComplete(
  event: Deployment,
  lambda: Context,
): Promise<CdkCustomResourceIsCompleteResponse<Started>> {
  if (event.RequestType === 'Delete') return { IsComplete: true };
  const started = Number(event.Data?.started ?? Date.now());
  const age = (): number => Date.now() - started;
  const remainingMs = Math.min(lambda.getRemainingTimeInMillis() - TIME_TO_END_MS, END_MS - age());
  try {
    if (await workOn(event, started, Date.now() + remainingMs)) return { IsComplete: true };
    if (age() >= GIVE_UP_MS)
      throw new Error('migration: wanted to end within 50 minutes, got work left. Deploy again: it continues');
  } catch (error) {
    if (age() >= GIVE_UP_MS || !isPassing(error, age())) throw error;
    logger.warn('migration waits', { error });
  }
  return { IsComplete: false };
}

/** Returns whether all is done: false if another migration runs, or time is up. */
async function workOn(event: Deployment, started: number, deadline: number): Promise<boolean> {
  const config = readConfig(STORE_VARIABLES);
  const desired = readDesiredState(event.ResourceProperties);
  const dynamo = dynamoClient();
  const stateTable = { client: dynamo, table: config.stateTable };
  const isLatest = 'attribute_not_exists(#started) OR #started <= :started';
  if (!(await setState(stateTable, LATEST, { started: { N: String(started) } }, { condition: isLatest })))
    throw new Error('migration: wanted to be of the latest deployment, got one that a later deployment replaces');

  const signal = AbortSignal.timeout(Math.max(0, deadline - Date.now()));
  // Waits within this call: only watching a lease shows that its owner has ended.
  const leased = {
    leases: leases(stateTable, randomUUID(), LEASE_MS),
    name: 'migrate',
    renewMs: RENEW_MS,
    takeEveryMs: TAKE_PAUSE_MS,
    isExclusive: true,
    signal,
  };
  const ended = await underLease(leased, (held) =>
    migrate({
      topologyTable: { client: dynamo, table: config.topologyTable },
      stateTable,
      connect: connectorOf(config.access).open(config, { statementMs: STATEMENT_MS }),
      desired,
      logins: userLogins(config.databaseAuth, new SecretsManagerClient()),
      bufferCopies: config.bufferCopies,
      mayGoOn: () => !held.aborted,
    }),
  );
  if (!ended) return false;
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
  return ended.result;
}

/** Whether waiting may help: a cluster or proxy still starts, or the deployment's rights are too new. */
function isPassing(error: unknown, ageMs: number): boolean {
  if (isDenied(error)) return ageMs < FRESH_RIGHTS_MS;
  // MySQL's own refusals have a number.
  return error instanceof SqlError && error.errno === 0 && /^un(?:reachable|clear)$/u.test(error.failure);
}

function isDenied(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isLogin = error instanceof SqlError && error.errno === LOGIN_DENIED;
  return isLogin || DENIED.has(error.name) || isDenied(error.cause);
}

import { connectorOf } from '#connector';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { METRICS } from '../../shared/metrics.ts';
import { openDeployment, type Deployment } from '../../shared/store/deployment.ts';
import {
  openContext,
  type DeploymentOptions,
  type StoreContext,
  type StoreEvent,
} from '../../shared/access/context.ts';
import type { DynamoTable } from '../../shared/dynamo/table.ts';
import { KEY_VARIABLES, STORE_VARIABLES, type StoreVariable } from '../../shared/environment.ts';
import { sealUnder } from '../../shared/sealed/seal.ts';
import { dynamoTopology } from '../../shared/topology/dynamo-topology.ts';
import { openCircuits } from '../../shared/access/open-circuits.ts';
import { readConfig, type Config, type StoreConfig } from './config.ts';
import { dynamoClient } from './dynamo.ts';
import { eventMessage } from './event-message.ts';
import { logger, requestIds, count } from './log.ts';
import { keyStore } from './root-key.ts';

/** Opens the deployment that this function belongs to. */
export function deployment(): Deployment {
  const config = readConfig([...STORE_VARIABLES, ...KEY_VARIABLES]);
  const options = deploymentOptions(config);
  return openDeployment(options, sealUnder(options.topology, keyStore(config)));
}

interface OpenedStore<K extends keyof Config> {
  readonly config: Pick<Config, StoreVariable | K>;
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly stateTable: DynamoTable;
}

let opened: { readonly client: DynamoDBClient; readonly context: StoreContext } | undefined;

/** Opens the store for loops and management, once in an instance. `more`: variables in addition to the store's. */
export function openStore<K extends keyof Config = never>(...more: readonly K[]): OpenedStore<K> {
  const config = readConfig([...STORE_VARIABLES, ...more]);
  const { client, context } = (opened ??= { client: dynamoClient(), context: openContext(deploymentOptions(config)) });
  return {
    config,
    context,
    topologyTable: { client, table: config.topologyTable },
    stateTable: { client, table: config.stateTable },
  };
}

/** Returns the connections to the environment's groups and topology. */
export function deploymentOptions(config: StoreConfig): DeploymentOptions {
  const connector = connectorOf(config.access);
  return {
    topology: dynamoTopology({ client: dynamoClient(), table: config.topologyTable }),
    connect: connector.open(config),
    bufferCopies: config.bufferCopies,
    guard: connector.guard,
    circuits: openCircuits({ client: dynamoClient(), table: config.stateTable }),
    report,
  };
}

/** Counts and logs an event, with the ids of its request. */
export function report(event: StoreEvent): void {
  const ids = requestIds();
  if (event.kind === 'circuit_opened' && event.found === 'here') count([METRICS.circuitOpened], ids.request_id);
  logger.warn(eventMessage(event), { ...ids, event });
}

import { connectorOf } from '#connector';
import { METRICS } from '../../shared/metrics.ts';
import { openDeployment, type Deployment } from '../../shared/store/deployment.ts';
import type { DeploymentOptions, StoreEvent } from '../../shared/access/context.ts';
import { KEY_VARIABLES, STORE_VARIABLES } from '../../shared/environment.ts';
import { sealUnder } from '../../shared/sealed/seal.ts';
import { dynamoTopology } from '../../shared/topology/dynamo-topology.ts';
import { openCircuits } from '../../shared/access/open-circuits.ts';
import { readConfig, type StoreConfig } from './config.ts';
import { dynamoClient } from './dynamo.ts';
import { logger, requestIds, count } from './log.ts';
import { keyStore } from './root-key.ts';

let opened: Deployment | undefined;

/** The deployment that this function belongs to, opened when first asked for and kept as long as the instance lives. */
export function deployment(): Deployment {
  opened ??= open();
  return opened;
}

function open(): Deployment {
  const config = readConfig([...STORE_VARIABLES, ...KEY_VARIABLES]);
  const options = deploymentOptions(config);
  return openDeployment(options, sealUnder(options.topology, keyStore(config)));
}

/** How the environment's groups and topology are reached. */
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

/** Counts and logs an event, with the ids of the request that met it. */
export function report(event: StoreEvent): void {
  const ids = requestIds();
  if (event.kind === 'circuit_opened' && event.found === 'here') count([METRICS.circuitOpened], ids.request_id);
  logger.warn('store', { ...ids, event });
}

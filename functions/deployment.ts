import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { METRICS } from '../shared/metrics.ts';
import { mysqlClient, type MysqlSettings } from '../shared/sql/mysql-client.ts';
import type { SqlClient } from '../shared/sql/client.ts';
import { openDeployment, type Deployment, type DeploymentOptions, type StoreEvent } from '../shared/store/deployment.ts';
import { dynamoTopology } from '../shared/topology/dynamo-topology.ts';
import { sharedTrips } from '../shared/topology/shared-trips.ts';
import type { GroupAddress } from '../shared/topology/topology.ts';
import { readConfig, type Config } from './config.ts';
import { secretCredentials } from './credentials.ts';
import { dynamoClient } from './dynamo.ts';
import { logger } from './http/log.ts';
import { count } from './http/metrics.ts';

let opened: Deployment | undefined;

/** The deployment that this function belongs to, opened when first asked for and kept as long as the instance lives. */
export function deployment(): Deployment {
  opened ??= openDeployment(deploymentOptions(readConfig()));
  return opened;
}

/** How the environment's groups and topology are reached. */
export function deploymentOptions(config: Config): DeploymentOptions {
  return {
    topology: dynamoTopology({ client: dynamoClient(), table: config.topologyTable }),
    connect: connector(config),
    bufferCopies: config.bufferCopies,
    trips: sharedTrips({ client: dynamoClient(), table: config.stateTable }),
    report,
  };
}

/** Opens clients of groups, by their secrets. */
export function connector(config: Config, settings: MysqlSettings = {}): (group: GroupAddress) => SqlClient {
  if (config.access !== 'mysql') throw new Error(`Access ${config.access} is not there yet: use mysql`);
  const secrets = new SecretsManagerClient();
  return (group) => mysqlClient(group, secretCredentials(secrets, group.secret), { tls: config.environment !== 'local', ...settings });
}

function report(event: StoreEvent): void {
  if (event.kind === 'circuit_opened' && event.found === 'here') count([METRICS.circuitOpened]);
  // Outcomes are counted with their requests.
  if (event.kind !== 'put') logger.warn('store', { event });
}

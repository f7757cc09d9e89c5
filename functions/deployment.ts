import { RDSDataClient } from '@aws-sdk/client-rds-data';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { METRICS } from '../shared/metrics.ts';
import { DATA_API_BREAKERS, dataApiClient } from '../shared/sql/data-api-client.ts';
import { mysqlClient } from '../shared/sql/mysql-client.ts';
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
    breakers: config.access === 'data-api' ? DATA_API_BREAKERS : {},
    trips: sharedTrips({ client: dynamoClient(), table: config.stateTable }),
    report,
  };
}

export interface ConnectorSettings {
  /** How long a statement may take. @default what the way to MySQL has */
  readonly statementMs?: number;
  /** How long a statement may wait for a free connection, where there are connections. @default 2000 */
  readonly acquireMs?: number;
}

/** Opens clients of groups, by their secrets, in the way of the environment. */
export function connector({ access, environment }: Pick<Config, 'access' | 'environment'>, { statementMs, acquireMs }: ConnectorSettings = {}): (group: GroupAddress) => SqlClient {
  if (access === 'data-api') {
    const client = dataApiSdk();
    return ({ clusterArn, secret }) => dataApiClient(client, { resourceArn: clusterArn, secretArn: secret }, statementMs === undefined ? {} : { callTimeoutMs: statementMs });
  }
  const secrets = new SecretsManagerClient();
  const settings = { tls: environment !== 'local', ...(statementMs !== undefined && { queryTimeoutMs: statementMs }), ...(acquireMs !== undefined && { acquireTimeoutMs: acquireMs }) };
  return (group) => mysqlClient(group, secretCredentials(secrets, group.secret), settings);
}

/** One for all groups, with a connection for each call under way. Retries are the adapter's: the SDK repeats calls whose outcome is unknown. */
function dataApiSdk(): RDSDataClient {
  return new RDSDataClient({ maxAttempts: 1, requestHandler: { connectionTimeout: 1000, httpsAgent: { maxSockets: 256, keepAlive: true }, httpAgent: { maxSockets: 256, keepAlive: true } } });
}

function report(event: StoreEvent): void {
  if (event.kind === 'circuit_opened' && event.found === 'here') count([METRICS.circuitOpened]);
  // Outcomes are counted with their requests.
  if (event.kind !== 'put') logger.warn('store', { event });
}

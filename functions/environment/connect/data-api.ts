import { RDSDataClient } from '@aws-sdk/client-rds-data';
import { DATA_API_BREAKERS, dataApiClient } from '../../../shared/sql/data-api-client.ts';
import { guardWith } from '../../../shared/sql/guarded-client.ts';
import { secretOf, type Connector } from './connector.ts';

/** Over the RDS Data API, which logs in with the user's secret. */
export const DATA_API: Connector = {
  guard: guardWith(DATA_API_BREAKERS),
  open({ databaseUser }, { statementMs } = {}) {
    const client = sdk();
    return (group) =>
      dataApiClient(
        client,
        { resourceArn: group.clusterArn, secretArn: secretOf(group, databaseUser) },
        statementMs === undefined ? {} : { callTimeoutMs: statementMs },
      );
  },
};

/**
 * One for all groups, with a connection for each call under way. Retries are the adapter's: the SDK repeats calls whose
 * outcome is unknown.
 */
function sdk(): RDSDataClient {
  return new RDSDataClient({
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: 1000,
      httpsAgent: { maxSockets: 256, keepAlive: true },
      httpAgent: { maxSockets: 256, keepAlive: true },
    },
  });
}

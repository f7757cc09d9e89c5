import { RDSDataClient } from '@aws-sdk/client-rds-data';
import { DATA_API_BREAKERS, dataApiClient } from '../../../shared/sql/data-api-client.ts';
import { guardWith } from '../../../shared/sql/guarded-client.ts';
import { secretOf, type Connector } from './connector.ts';

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

/** One client for all groups. The SDK must not retry: it repeats calls whose outcome is unknown. */
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

import { RDSDataClient } from '@aws-sdk/client-rds-data';

/** The SDK of the RDS Data API, which tries a call once. */
export function dataApiSdk(endpoint?: string): RDSDataClient {
  return new RDSDataClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
    ...(endpoint !== undefined && { endpoint }),
  });
}

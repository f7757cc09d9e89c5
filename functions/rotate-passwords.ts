import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { RDSClient } from '@aws-sdk/client-rds';
import { RDSDataClient } from '@aws-sdk/client-rds-data';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SecretsManagerRotationEvent } from 'aws-lambda';
import { dataApiClient } from '../shared/sql/data-api-client.ts';
import { dynamoTopology } from '../shared/topology/dynamo-topology.ts';
import { readConfig } from './environment/config.ts';
import { logger } from './environment/log.ts';
import { rotatedLogin, rotatePassword } from './passwords/rotate-password.ts';
import { SecretVersions } from './passwords/secret-versions.ts';

/** Enough to set a password, or for a cluster to wake. */
const STATEMENT_MS = 20_000;

/** Runs a step of a rotation for Secrets Manager, over the RDS Data API and outside the VPC. */
export async function handler({ Step, SecretId, ClientRequestToken }: SecretsManagerRotationEvent): Promise<void> {
  const { topologyTable } = readConfig(['topologyTable']);
  const groups = await dynamoTopology({ client: new DynamoDBClient(), table: topologyTable }).groupsNow();
  const data = new RDSDataClient({ maxAttempts: 1 });
  const login = rotatedLogin(SecretId, {
    groups,
    rds: new RDSClient(),
    connect: ({ clusterArn }, secretArn) =>
      dataApiClient(data, { resourceArn: clusterArn, secretArn }, { callTimeoutMs: STATEMENT_MS }),
  });
  await rotatePassword(Step, new SecretVersions(new SecretsManagerClient(), SecretId), ClientRequestToken, login);
  logger.info('password rotated', { step: Step, secret: SecretId, kind: login?.kind });
}

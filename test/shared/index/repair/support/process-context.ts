import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { RDSDataClient } from '@aws-sdk/client-rds-data';
import { DATA_API_BREAKERS, dataApiClient } from '../../../../../shared/sql/data-api-client.ts';
import { guardWith } from '../../../../../shared/sql/guarded-client.ts';
import { mysqlClient } from '../../../../../shared/sql/mysql-client.ts';
import type { DeploymentOptions } from '../../../../../shared/access/context.ts';
import { dynamoTopology } from '../../../../../shared/topology/dynamo-topology.ts';
import type { Servers } from '../../../../support/servers.ts';

/** What a process of its own needs to reach a test's store. */
export interface ProcessInput {
  readonly servers: Pick<Servers, 'groups' | 'dynamo' | 'dataApi' | 'access'>;
  readonly topologyTable: string;
}

/** The store's options as the test has them, over clients of this process. */
export function processOptions({ servers, topologyTable }: ProcessInput) {
  const login = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  const dynamo = new DynamoDBClient({ endpoint: servers.dynamo, ...login });
  const sdk = new RDSDataClient({ endpoint: servers.dataApi, ...login, maxAttempts: 1 });
  const overDataApi = servers.access === 'data-api';
  const options: DeploymentOptions = {
    topology: dynamoTopology({ client: dynamo, table: topologyTable }),
    connect(address) {
      const group = servers.groups.find(({ name }) => name === address.name);
      if (!group) throw new Error(`no group ${address.name}`);
      if (overDataApi) return dataApiClient(sdk, { resourceArn: address.clusterArn, secretArn: address.secret });
      return mysqlClient(address, async () => ({ username: group.user, password: group.password }));
    },
    bufferCopies: 0,
    ...(overDataApi ? { guard: guardWith(DATA_API_BREAKERS) } : {}),
  };
  return {
    dynamo,
    options,
    close(): void {
      sdk.destroy();
      dynamo.destroy();
    },
  };
}

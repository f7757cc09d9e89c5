import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { RDSDataClient } from '@aws-sdk/client-rds-data';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { makeQueryHandler } from '../../../../functions/query-index.ts';
import { makeReadHandler } from '../../../../functions/read-cells.ts';
import { dataApiClient } from '../../../../shared/sql/data-api-client.ts';
import { mysqlClient } from '../../../../shared/sql/mysql-client.ts';
import { openDeployment } from '../../../../shared/store/deployment.ts';
import { dynamoTopology } from '../../../../shared/topology/dynamo-topology.ts';
import type { Servers } from '../../../support/servers.ts';

/** A request that is answered in a process of its own, whose heap is small. */
export interface SmallHeapRead {
  readonly servers: Servers;
  readonly topologyTable: string;
  readonly handler: 'read-cells' | 'query-index';
  readonly event: Partial<APIGatewayProxyEventV2>;
}

const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

// Started by a test, with the request as its only argument; prints the answer's status, its length and how often some
// words are in it.
const { servers, topologyTable, handler, event } = JSON.parse(process.argv[2] ?? '') as SmallHeapRead;
const sdk = new RDSDataClient({
  endpoint: servers.dataApi,
  region: 'us-east-1',
  credentials: CREDENTIALS,
  maxAttempts: 1,
});
const deployment = openDeployment({
  topology: dynamoTopology({
    client: new DynamoDBClient({ endpoint: servers.dynamo, region: 'us-east-1', credentials: CREDENTIALS }),
    table: topologyTable,
  }),
  connect(address) {
    const group = servers.groups.find(({ name }) => name === address.name);
    if (!group) throw new Error(`no group ${address.name}`);
    if (servers.access === 'data-api')
      return dataApiClient(sdk, { resourceArn: address.clusterArn, secretArn: address.secret });
    return mysqlClient(address, async () => ({ username: group.user, password: group.password }));
  },
  bufferCopies: 0,
});
const answer = await (handler === 'read-cells' ? makeReadHandler : makeQueryHandler)(() => deployment)(
  event as APIGatewayProxyEventV2,
  {} as Context,
);
const { body = '', isBase64Encoded } = answer;
const text = isBase64Encoded ? Buffer.from(body, 'base64').toString() : body;
const count = (word: string): number => text.split(word).length - 1;
process.stdout.write(
  `\n${JSON.stringify({ status: answer.statusCode, bytes: text.length, bodies: count('"body":[['), nulls: count('null'), refused: count('answer_too_large') })}\n`,
  () => process.exit(0),
);

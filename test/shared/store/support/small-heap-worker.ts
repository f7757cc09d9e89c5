/** Does one thing after another with a test's store, over clients of its own, in a thread whose heap is small. */
import { randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { RDSDataClient } from '@aws-sdk/client-rds-data';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { makeQueryHandler } from '../../../../functions/query-index.ts';
import { makeReadHandler } from '../../../../functions/read-cells.ts';
import { openContext, type DeploymentOptions } from '../../../../shared/access/context.ts';
import { recoverPrimary } from '../../../../shared/drain/recover-primary.ts';
import { runRepair } from '../../../../shared/index/repair/run-repair.ts';
import { dataApiClient } from '../../../../shared/sql/data-api-client.ts';
import { mysqlClient } from '../../../../shared/sql/mysql-client.ts';
import { openDeployment } from '../../../../shared/store/deployment.ts';
import { dynamoTopology } from '../../../../shared/topology/dynamo-topology.ts';
import { drainAtOnce } from '../../../support/drain-pass.ts';
import { withoutBreakers } from '../../../support/without-breakers.ts';
import type { HeapInput, HeapTask } from './small-heap.ts';

const { servers, topologyTable, stateTable } = workerData as HeapInput;
const PATIENT = { connectTimeoutMs: 30_000, acquireTimeoutMs: 60_000, queryTimeoutMs: 60_000 };
const login = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
const client = new DynamoDBClient({ endpoint: servers.dynamo, ...login });
const sdk = new RDSDataClient({ endpoint: servers.dataApi, ...login, maxAttempts: 1 });
const options: DeploymentOptions = {
  topology: dynamoTopology({ client, table: topologyTable }),
  connect(address) {
    const group = servers.groups.find(({ name }) => name === address.name);
    if (!group) throw new Error(`no group ${address.name}`);
    if (servers.access === 'data-api')
      return dataApiClient(sdk, { resourceArn: address.clusterArn, secretArn: address.secret });
    return mysqlClient(address, async () => ({ username: group.user, password: group.password }), PATIENT);
  },
  bufferCopies: 1,
  guard: withoutBreakers,
};
const context = openContext(options);
const deployment = openDeployment(options);
const ending = new AbortController();

async function answer(handler: 'read-cells' | 'query-index', event: Partial<APIGatewayProxyEventV2>) {
  const handle = (handler === 'read-cells' ? makeReadHandler : makeQueryHandler)(() => deployment);
  const { statusCode, body = '', isBase64Encoded } = await handle(event as APIGatewayProxyEventV2, {} as Context);
  const text = isBase64Encoded ? Buffer.from(body, 'base64').toString() : body;
  const count = (word: string): number => text.split(word).length - 1;
  const [bodies, nulls, refused] = [count('"body":[['), count('null'), count('answer_too_large')];
  return { status: statusCode, bytes: text.length, bodies, nulls, refused };
}

async function countConflicts(datastore: string): Promise<number> {
  const { listBufferConflicts } = await deployment.datastore(datastore);
  let count = 0;
  for (let after: string | undefined; ;) {
    const { conflicts, next } = await listBufferConflicts({ limit: 100, after });
    count += conflicts.length;
    if (next === null) return count;
    after = next;
  }
}

/** Until it is told to end. @returns what failed */
async function repair(): Promise<readonly string[]> {
  const failed: string[] = [];
  await runRepair({
    context,
    topologyTable: { client, table: topologyTable },
    stateTable: { client, table: stateTable ?? '' },
    owner: randomUUID(),
    // Clock: never comes
    deadline: Date.now() + 3_600_000,
    signal: ending.signal,
    settings: { behindMs: 100, pollMs: 500 },
    report: (event) => void ('error' in event && failed.push(`${event.kind}: ${String(event.error)}`)),
  });
  return failed;
}

async function done(task: HeapTask): Promise<unknown> {
  if (task.work === 'request') return answer(task.handler, task.event);
  if (task.work === 'drain') return (await drainAtOnce(context, task.group)).appended;
  if (task.work === 'recover') return recoverPrimary(context, task.group);
  if (task.work === 'list conflicts') return countConflicts(task.datastore);
  return repair();
}

parentPort?.on('message', (task: HeapTask | 'end') => {
  if (task === 'end') ending.abort();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  else void done(task).then((result) => parentPort?.postMessage(result));
});

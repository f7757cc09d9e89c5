import { randomBytes } from 'node:crypto';
import {
  ExecuteStatementCommand,
  type RDSDataClient,
  type ExecuteStatementCommandInput,
  type ExecuteStatementCommandOutput,
} from '@aws-sdk/client-rds-data';
import { afterAll, inject } from 'vitest';
import { startDataApi, type DataApi } from '../../../../infra/local/data-api/data-api.ts';
import type { Login } from '../../../../infra/local/data-api/connections.ts';
import { dataApiSdk } from '../../../support/data-api-sdk.ts';

export const RESOURCE_ARN = 'arn:aws:rds:us-east-1:000000000000:cluster:local';
const SECRET_ARN = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:local';
export const TARGET = { resourceArn: RESOURCE_ARN, secretArn: SECRET_ARN } as const;

type Run = (sql: string, input?: Partial<ExecuteStatementCommandInput>) => Promise<ExecuteStatementCommandOutput>;

export function serverLogin(): Login {
  const [group] = inject('servers').groups;
  if (!group) throw new Error('wanted a server');
  return { host: group.writer.host, port: group.writer.port, user: group.user, password: group.password };
}

interface TestApi extends DataApi {
  readonly client: RDSDataClient;
  readonly run: Run;
  /** Of its own; statements have to name it. */
  readonly database: string;
}

export async function dataApiOfTests(): Promise<TestApi> {
  const api = await startDataApi({
    login: (resourceArn) => (resourceArn === RESOURCE_ARN ? serverLogin() : undefined),
  });
  const client = dataApiSdk(api.url);
  const database = `scratch_${randomBytes(6).toString('hex')}`;
  const run: Run = (sql, input) => client.send(new ExecuteStatementCommand({ ...TARGET, sql, ...input }));
  await run(`CREATE DATABASE ${database}`);
  afterAll(async () => {
    api.faults.clear();
    await run(`DROP DATABASE ${database}`);
    client.destroy();
    await api.stop();
  });
  return { ...api, client, run, database };
}

import { randomBytes } from 'node:crypto';
import {
  ExecuteStatementCommand,
  RDSDataClient,
  type ExecuteStatementCommandInput,
  type ExecuteStatementCommandOutput,
  type SqlParameter,
} from '@aws-sdk/client-rds-data';
import { inject } from 'vitest';
import { startDataApi, type DataApi, type DataApiOptions } from '../../../../infra/local/data-api/data-api.ts';
import type { Login } from '../../../../infra/local/data-api/logins.ts';

export const RESOURCE_ARN = 'arn:aws:rds:us-east-1:000000000000:cluster:local';
export const SECRET_ARN = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:local';
export const TARGET = { resourceArn: RESOURCE_ARN, secretArn: SECRET_ARN } as const;

export interface TestApi extends DataApi {
  readonly client: RDSDataClient;
  /** The scratch database. */
  readonly database: string;
  /** Runs a statement in the scratch database. */
  run(sql: string, input?: Partial<ExecuteStatementCommandInput>): Promise<ExecuteStatementCommandOutput>;
  close(): Promise<void>;
}

/** The run's first writer. */
export function serverLogin(): Login {
  const [group] = inject('servers').groups;
  if (!group) throw new Error('wanted a server');
  return { host: group.writer.host, port: group.writer.port, user: group.user, password: group.password };
}

/** An endpoint over the run's first writer, with a database of its own. */
export async function openDataApi(options: Partial<DataApiOptions> = {}): Promise<TestApi> {
  const api = await startDataApi({ clusters: [{ resourceArn: RESOURCE_ARN, ...serverLogin() }], ...options });
  const client = clientOf(api.url);
  const database = `scratch_${randomBytes(6).toString('hex')}`;
  await client.send(new ExecuteStatementCommand({ ...TARGET, sql: `CREATE DATABASE ${database}` }));
  const run: TestApi['run'] = (sql, input = {}) =>
    client.send(new ExecuteStatementCommand({ ...TARGET, database, sql, ...input }));
  return {
    ...api,
    client,
    database,
    run,
    async close() {
      api.faults.clear();
      await run(`DROP DATABASE ${database}`, { database: undefined });
      client.destroy();
      await api.stop();
    },
  };
}

/** The real SDK; a call is tried once unless said otherwise. */
export function clientOf(endpoint: string, maxAttempts = 1): RDSDataClient {
  return new RDSDataClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts,
  });
}

export function text(name: string, stringValue: string, typeHint?: SqlParameter['typeHint']): SqlParameter {
  return { name, value: { stringValue }, ...(typeHint ? { typeHint } : {}) };
}

export function long(name: string, longValue: number): SqlParameter {
  return { name, value: { longValue } };
}

/** The fields of the only row. */
export function onlyRow({ records }: ExecuteStatementCommandOutput): unknown[] {
  if (records?.length !== 1) throw new Error(`wanted one row, got ${String(records?.length)}`);
  return records[0] ?? [];
}

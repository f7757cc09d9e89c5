import { randomBytes } from 'node:crypto';
import {
  BatchExecuteStatementCommand,
  BeginTransactionCommand,
  CommitTransactionCommand,
  ExecuteStatementCommand,
  RDSDataClient,
  RollbackTransactionCommand,
  type BatchExecuteStatementCommandInput,
  type BatchExecuteStatementCommandOutput,
  type ExecuteStatementCommandInput,
  type ExecuteStatementCommandOutput,
  type SqlParameter,
} from '@aws-sdk/client-rds-data';
import { afterAll, expect, inject, vi } from 'vitest';
import { startDataApi, type DataApi } from '../../../../infra/local/data-api/data-api.ts';
import type { Login } from '../../../../infra/local/data-api/logins.ts';

export const RESOURCE_ARN = 'arn:aws:rds:us-east-1:000000000000:cluster:local';
export const SECRET_ARN = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:local';
export const TARGET = { resourceArn: RESOURCE_ARN, secretArn: SECRET_ARN } as const;

/** What a client asks, of one database unless said otherwise. */
export interface Calls {
  readonly client: RDSDataClient;
  run(sql: string, input?: Partial<ExecuteStatementCommandInput>): Promise<ExecuteStatementCommandOutput>;
  batch(
    sql: string,
    parameterSets?: SqlParameter[][],
    input?: Partial<BatchExecuteStatementCommandInput>,
  ): Promise<BatchExecuteStatementCommandOutput>;
  /** @returns the id of the transaction */
  begin(): Promise<string>;
  commit(transactionId: string): Promise<{ readonly transactionStatus?: string | undefined }>;
  rollback(transactionId: string): Promise<{ readonly transactionStatus?: string | undefined }>;
}

interface TestApi extends DataApi, Calls {
  readonly database: string;
}

/** The same, asked by this client. */
export function callsOf(client: RDSDataClient, database: string | undefined): Calls {
  return {
    client,
    run: (sql, input) => client.send(new ExecuteStatementCommand({ ...TARGET, database, sql, ...input })),
    batch: (sql, parameterSets, input) =>
      client.send(new BatchExecuteStatementCommand({ ...TARGET, database, sql, parameterSets, ...input })),
    begin: async () => (await client.send(new BeginTransactionCommand({ ...TARGET, database }))).transactionId ?? '',
    commit: (transactionId) => client.send(new CommitTransactionCommand({ ...TARGET, transactionId })),
    rollback: (transactionId) => client.send(new RollbackTransactionCommand({ ...TARGET, transactionId })),
  };
}

/** The run's first writer. */
export function serverLogin(): Login {
  const [group] = inject('servers').groups;
  if (!group) throw new Error('wanted a server');
  return { host: group.writer.host, port: group.writer.port, user: group.user, password: group.password };
}

/** An endpoint over the run's first writer for the tests of a file, with a database in which statements were done. */
export async function dataApiOfTests(...statements: readonly string[]): Promise<TestApi> {
  const api = await startDataApi({ clusters: [{ resourceArn: RESOURCE_ARN, ...serverLogin() }] });
  const client = clientOf(api.url);
  const database = `scratch_${randomBytes(6).toString('hex')}`;
  const calls = callsOf(client, database);
  await calls.run(`CREATE DATABASE ${database}`, { database: undefined });
  afterAll(async () => {
    api.faults.clear();
    await calls.run(`DROP DATABASE ${database}`, { database: undefined });
    client.destroy();
    await api.stop();
  });
  for (const statement of statements) await calls.run(statement);
  return { ...api, ...calls, database };
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

/** Has time limits pass when a test says so, by `vi.advanceTimersByTime`; restored by `vi.useRealTimers`. */
export function fakeTimeouts(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
}

/** Waits until a server runs a statement. @returns its connection */
export async function runningOn({ run }: Pick<Calls, 'run'>, sql: string): Promise<number> {
  const running = "SELECT id FROM information_schema.processlist WHERE info LIKE CONCAT(:sql, '%')";
  const find = async () => (await run(running, { parameters: [text('sql', sql)] })).records?.[0]?.[0]?.longValue ?? 0;
  await expect.poll(find).toBeGreaterThan(0);
  return find();
}

export function onlyRow({ records }: ExecuteStatementCommandOutput): unknown[] {
  if (records?.length !== 1) throw new Error(`wanted one row, got ${String(records?.length)}`);
  return records[0] ?? [];
}

/** An error of the SDK, with a message and a status where they are given. */
export function failure(name: string, message?: unknown, httpStatusCode?: number): object {
  return {
    name,
    ...(message !== undefined && { message }),
    ...(httpStatusCode !== undefined && { $metadata: expect.objectContaining({ httpStatusCode }) }),
  };
}

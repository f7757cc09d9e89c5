import type { PoolConnection } from 'mysql2';
import { bind, isSingleStatement, leavesSessionState, readSqlText } from './sql-text.ts';
import { Connections, type Login } from './connections.ts';
import { DataApiException } from './exceptions.ts';
import { longField, toRecords, runStatement, type StatementResult } from './run-statement.ts';
import type { ExecuteRequest } from './request.ts';
import { messageOf } from '../message-of.ts';
import { within } from '../within.ts';

export const STATEMENT_MS = 45_000;
/** How long a killed statement may take to end before the call is answered. */
const KILLED_MS = 2000;

/** Finds a cluster's server and login; undefined: no such cluster. An error means that the secret is unavailable. */
export type ResolveLogin = (resourceArn: string, secretArn: string) => Login | undefined | Promise<Login | undefined>;

/** Runs one statement, which commits by itself in its own session. Throws a `DataApiException`. */
export async function execute(
  request: ExecuteRequest,
  resolveLogin: ResolveLogin,
  connections: Connections,
): Promise<object> {
  const text = readSqlText(request.sql);
  if (!isSingleStatement(text)) throw new DataApiException('ValidationException', "Multistatements aren't supported.");
  const sql = bind(text, request.parameters);
  const login = await findLogin(resolveLogin, request);
  const connection = await connections.take(login);
  const work = runStatement(connection, sql);
  const killed = request.continueAfterTimeout ? undefined : () => kill(connections, login, connection, work);
  let isClean = !leavesSessionState(text);
  try {
    return answerOf(await inTime(work, killed), request.longAsString);
  } catch (error) {
    // A killed or broken connection may still have something to say to the next call on it.
    isClean &&=
      error instanceof DataApiException && error.name === 'DatabaseErrorException' && error.cause !== undefined;
    throw error;
  } finally {
    const end = (): void => (isClean ? connection.release() : connection.destroy());
    void work.then(end, end);
  }
}

async function findLogin(resolveLogin: ResolveLogin, { resourceArn, secretArn }: ExecuteRequest): Promise<Login> {
  let login: Login | undefined;
  try {
    login = await resolveLogin(resourceArn, secretArn);
  } catch (error) {
    const why = messageOf(error);
    throw new DataApiException('SecretsErrorException', `Error fetching secret ${secretArn} : ${why}`, {
      cause: error,
    });
  }
  if (login) return login;
  throw new DataApiException(
    'HttpEndpointNotEnabledException',
    `HttpEndpoint is not enabled for resource ${resourceArn}`,
  );
}

/** Throws `StatementTimeoutException` once the time is over and `killed` is done; without that the work continues. */
async function inTime<T>(work: Promise<T>, killed: (() => Promise<void>) | undefined): Promise<T> {
  const ended = await within(
    STATEMENT_MS,
    work.then((result) => ({ result })),
  );
  if (ended) return ended.result;
  await killed?.();
  throw new DataApiException('StatementTimeoutException', 'Request timed out');
}

/** Resolves when the statement has ended, or has been given its time to. */
async function kill(
  connections: Connections,
  login: Login,
  { threadId }: PoolConnection,
  work: Promise<unknown>,
): Promise<void> {
  // A server that cannot be asked is unavailable; the statement then ends with its connection.
  const killing = connections.killQuery(login, threadId ?? 0).catch(() => undefined);
  await within(KILLED_MS, Promise.allSettled([killing, work]));
}

function answerOf(result: StatementResult, longAsString: boolean): object {
  if (result.kind === 'rows')
    return { numberOfRecordsUpdated: 0, records: toRecords(result.columns, result.rows, longAsString) };
  // The last insert id: the first id of a statement, or the argument of LAST_INSERT_ID(n).
  // The server counts without a sign, the driver reads its 64 bits with one.
  const insertId = BigInt.asUintN(64, BigInt(result.insertId));
  const generatedFields = insertId === 0n ? [] : [longField(insertId)];
  return { generatedFields, numberOfRecordsUpdated: result.affectedRows };
}

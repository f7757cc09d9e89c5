import type { PoolConnection, Connection, FieldPacket, ResultSetHeader } from 'mysql2';
import { bind, isSingleStatement, leavesSessionState, readSqlText } from './sql-text.ts';
import { Connections, type Login, cut } from './connections.ts';
import { DataApiException, exceptionOf } from './exceptions.ts';
import { type ExecuteRequest, LONG_MAX } from './request.ts';
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

/** The most that the server sends for a result, without its framing. */
const RESULT_BYTES = 1024 * 1024;
const ROW_BYTES = 64 * 1024;

type StatementResult =
  | { readonly kind: 'rows'; readonly columns: readonly FieldPacket[]; readonly rows: readonly RawRow[] }
  | { readonly kind: 'change'; readonly affectedRows: number; readonly insertId: number };

/** Runs one statement, up to the limits; of several results the first with rows. Throws a `DataApiException`. */
function runStatement(connection: Connection, sql: string): Promise<StatementResult> {
  return new Promise((resolve, reject) => {
    let columns: readonly FieldPacket[] | undefined;
    const rows: RawRow[] = [];
    let header: ResultSetHeader | undefined;
    let readsRows = false;
    let bytes = 0;
    const tooLarge = (name: 'UnsupportedResultException' | 'DatabaseErrorException', message: string): void => {
      cut(connection);
      reject(new DataApiException(name, message));
    };
    const fail = (error: unknown): void => reject(exceptionOf(error));
    // Only the connection reports its loss, and errors that the driver meets while it reads.
    connection.once('error', fail);
    // Without a callback the driver keeps nothing of the result.
    const query = connection.query({ sql, rowsAsArray: true, typeCast: false });
    query.on('fields', (fields: readonly FieldPacket[] | undefined) => {
      readsRows = fields !== undefined && columns === undefined;
      columns ??= fields;
    });
    query.on('result', (result: RawRow | ResultSetHeader) => {
      if (!isRow(result)) {
        header = result;
        return;
      }
      if (!readsRows) return;
      const size = result.reduce((sum, value) => sum + (value?.length ?? 0), 0);
      bytes += size;
      if (size > ROW_BYTES)
        return tooLarge('DatabaseErrorException', `Packet for query is too large (${size} > ${ROW_BYTES})`);
      if (bytes > RESULT_BYTES) return tooLarge('UnsupportedResultException', 'Database response exceeded size limit');
      rows.push(result);
    });
    query.on('error', fail);
    query.on('end', () => {
      connection.off('error', fail);
      if (columns) return resolve({ kind: 'rows', columns, rows });
      const { affectedRows = 0, insertId = 0 } = header ?? {};
      return resolve({ kind: 'change', affectedRows, insertId });
    });
  });
}

function isRow(result: RawRow | ResultSetHeader): result is RawRow {
  return Array.isArray(result);
}

type RawRow = readonly (Buffer | null)[];

/** A value as the API writes it: one member; blobs are base64. */
type Field = Readonly<Record<string, unknown>>;

/** Types of the MySQL protocol. */
const TINY = 1;
const BIT = 16;
const INTEGERS = new Set([1, 2, 3, 8, 9]);
const FLOATS = new Set([4, 5]);
/** BLOB and its kin, BINARY and VARBINARY: text too, by their character set. */
const STRINGS = new Set([15, 249, 250, 251, 252, 253, 254]);
/** VECTOR and GEOMETRY. */
const UNSUPPORTED = new Set([242, 255]);
const UNSIGNED = 32;
const BINARY_CHARSET = 63;

/** Returns the rows as fields. Throws a `DataApiException` for a column of a type that the API does not know. */
function toRecords(columns: readonly FieldPacket[], rows: readonly RawRow[], longAsString: boolean): Field[][] {
  const readers = columns.map((column) => readerOf(column, longAsString));
  return rows.map((row) =>
    row.map((bytes, index) => (bytes === null ? { isNull: true } : (readers[index]?.(bytes) ?? {}))),
  );
}

function readerOf(column: FieldPacket, longAsString: boolean): (bytes: Buffer) => Field {
  const { columnType: type = -1, columnLength } = column;
  if (UNSUPPORTED.has(type)) throw new DataApiException('UnsupportedResultException', `unsupported data type ${type}`);
  if (type === TINY && columnLength === 1 && (Number(column.flags) & UNSIGNED) === 0)
    return (bytes) => ({ booleanValue: bytes.toString('latin1') !== '0' });
  if (type === BIT && columnLength === 1) return (bytes) => ({ booleanValue: bytes[0] === 1 });
  if (INTEGERS.has(type)) return longAsString ? asText : (bytes) => longField(bytes.toString('latin1'));
  if (FLOATS.has(type)) return (bytes) => ({ doubleValue: Number(bytes.toString('latin1')) });
  const isBinary = type === BIT || (STRINGS.has(type) && column.characterSet === BINARY_CHARSET);
  // Decimals, times, JSON and enumerations travel as text.
  return isBinary ? (bytes) => ({ blobValue: bytes.toString('base64') }) : asText;
}

/** Returns all digits of an integer. Throws a `DataApiException` for one above 2^63-1, as AWS does. */
function longField(digits: number | bigint | string): Field {
  const [number, integer] = [Number(digits), BigInt(digits)];
  if (integer <= LONG_MAX) return { longValue: Number.isSafeInteger(number) ? number : integer };
  const text = `Value '${integer}' is outside of valid range for type java.lang.Long`;
  throw new DataApiException('DatabaseErrorException', text);
}

function asText(bytes: Buffer): Field {
  return { stringValue: bytes.toString('utf8') };
}

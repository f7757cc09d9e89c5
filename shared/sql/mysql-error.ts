import { SqlError, type SqlFailure } from './client.ts';

/** What a driver's error carries; every member may be missing. */
interface DriverError {
  readonly code?: string;
  readonly errno?: number;
  readonly message?: string;
}

const DUPLICATE = 1062;
/** ER_LOCK_WAIT_TIMEOUT, ER_LOCK_DEADLOCK, MariaDB's ER_CHECKREAD: the statement was rolled back. */
const CONTENTION = new Set([1205, 1213, 1020]);
/** The server took the connection away while it may have been at work: shutdown, killed query, query interrupted. */
const UNCLEAR = new Set([1053, 1317, 1927, 3024, 1969]);
/** The server did not let the session in: too many connections, access denied, host blocked. */
const UNREACHABLE = new Set([1040, 1045, 1129, 1130, 1203, 1226]);
/**
 * RDS Proxy's own: it got no connection to the database within the time that it lends one in, since the database is away
 * or starts, or all that it may have are in use ("Troubleshooting for RDS Proxy", RDS User Guide). So the database has
 * had nothing of the statement. It is the only number of its own that AWS documents, and no answer of a server's.
 */
const PROXY_TIMED_OUT = 9501;
/** The driver's: no connection in time. */
const TIMED_OUT = 'ETIMEDOUT';
/**
 * Read-only server: what the writer answers after it lost its role. ER_OPTION_PREVENTS_STATEMENT, ER_READ_ONLY_MODE.
 */
const READ_ONLY = new Set([1290, 1836]);

/**
 * Sorts a driver's error by what the caller can conclude.
 *
 * @param sent whether the statement may have reached the server
 * @param position of the statement, in a transaction
 */
export function toSqlError(error: unknown, sent: boolean, position?: number): SqlError {
  const { code = '', errno = 0, message = String(error) } = (error ?? {}) as DriverError;
  const serverErrno = errno > 0 && code.startsWith('ER_') ? errno : 0;
  const failure = sortOut(serverErrno, sent && errno !== PROXY_TIMED_OUT);
  return new SqlError(failure, message, {
    errno: serverErrno,
    timedOut: code === TIMED_OUT,
    position,
    cause: error,
    ...(failure === 'duplicate' ? { key: duplicateKey(message) } : {}),
  });
}

/** @param errno 0: the driver's own error, no server's */
export function sortOut(errno: number, sent: boolean): SqlFailure {
  if (errno === DUPLICATE) return 'duplicate';
  if (CONTENTION.has(errno)) return 'contention';
  if (UNCLEAR.has(errno)) return 'unclear';
  if (UNREACHABLE.has(errno) || READ_ONLY.has(errno)) return 'unreachable';
  // Who is not let in has had no statement refused: the server may let in nobody.
  if (errno > 0) return sent ? 'rejected' : 'unreachable';
  return sent ? 'unclear' : 'unreachable';
}

/**
 * The key that a 1062 names, without its table: MySQL writes `for key 'entity.cell'`, MariaDB `for key 'cell'`. Only
 * the end of the message counts, since the value before it is the client's and can imitate anything.
 */
export function duplicateKey(message: string): string {
  return /for key '(?:[^'.]*\.)?([^'.]*)'$/.exec(message)?.[1] ?? '';
}

import { SqlError, type SqlFailure } from './client.ts';

interface DriverError {
  readonly code?: string;
  readonly errno?: number;
  readonly message?: string;
}

const DUPLICATE = 1062;
/** ER_LOCK_WAIT_TIMEOUT, ER_LOCK_DEADLOCK, MariaDB's ER_CHECKREAD: the statement was rolled back. */
const CONTENTION = new Set([1205, 1213, 1020]);
/** The server ended the connection or query while it may have been at work. */
const UNCLEAR = new Set([1053, 1317, 1927, 3024, 1969]);
const UNREACHABLE = new Set([1040, 1045, 1129, 1130, 1203, 1226]);
/** RDS Proxy got no connection to the database, which saw nothing ("Troubleshooting for RDS Proxy"). */
const PROXY_TIMED_OUT = 9501;
const TIMED_OUT = 'ETIMEDOUT';
/** ER_OPTION_PREVENTS_STATEMENT, ER_READ_ONLY_MODE: the server lost the writer's role. */
const READ_ONLY = new Set([1290, 1836]);

/** Sorts a driver's error by what the caller can conclude; `sent`: the statement may have reached the server. */
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

/** `errno` 0 is the driver's own error. */
export function sortOut(errno: number, sent: boolean): SqlFailure {
  if (errno === DUPLICATE) return 'duplicate';
  if (CONTENTION.has(errno)) return 'contention';
  if (UNCLEAR.has(errno)) return 'unclear';
  if (UNREACHABLE.has(errno) || READ_ONLY.has(errno)) return 'unreachable';
  // A session that was not let in had no statement refused.
  if (errno > 0) return sent ? 'rejected' : 'unreachable';
  return sent ? 'unclear' : 'unreachable';
}

/**
 * Returns the key of a 1062 without its table: MySQL writes `entity.cell`, MariaDB `cell`. Only the end of the message
 * counts, since the client's value before it can imitate anything.
 */
export function duplicateKey(message: string): string {
  return /for key '(?:[^'.]*\.)?([^'.]*)'$/.exec(message)?.[1] ?? '';
}

import { READ_ONLY, SqlError, type SqlFailure } from './client.ts';

interface DriverError {
  readonly name?: string;
  readonly code?: string;
  readonly errno?: number;
  readonly sqlState?: string;
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

/** The errors whose messages quote names alone: of users, hosts, databases, tables and columns. */
const QUOTE_NAMES = new Set([1007, 1008, 1044, 1045, 1049, 1050, 1051, 1054, 1130, 1142, 1143, 1146, 1226, 1396]);

/** Cuts a server's message before the value, or the piece of the statement, that it quotes. */
export function withoutValues(message: string, errno: number): string {
  return QUOTE_NAMES.has(errno) ? message : message.replace(/['"].*$/su, '…');
}

/** Returns a driver's error for logs, without members that hold SQL, and so bodies or passwords. */
export function withoutSql(error: unknown, message: string): Error {
  const { name = 'Error', code, errno, sqlState } = (error ?? {}) as DriverError;
  return Object.assign(new Error(message), { name, code, errno, sqlState });
}

/** Sorts a driver's error by what the caller can conclude; `sent`: the statement may have reached the server. */
export function toSqlError(error: unknown, sent: boolean, position?: number): SqlError {
  const { code = '', errno = 0, message: whole = String(error) } = (error ?? {}) as DriverError;
  const serverErrno = errno > 0 && code.startsWith('ER_') ? errno : 0;
  // Errors without a number come from the driver or the network, which quote no values.
  const message = errno > 0 ? withoutValues(whole, serverErrno) : whole;
  const failure = sortOut(serverErrno, sent && errno !== PROXY_TIMED_OUT);
  return new SqlError(failure, message, {
    errno: serverErrno,
    timedOut: code === TIMED_OUT,
    position,
    cause: withoutSql(error, message),
    ...(failure === 'duplicate' ? { key: duplicateKey(whole) } : {}),
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

/** Returns the key of a 1062 without its table, from the message's end: the value before it can imitate anything. */
export function duplicateKey(message: string): string {
  return /for key '(?:[^'.]*\.)?([^'.]*)'$/.exec(message)?.[1] ?? '';
}

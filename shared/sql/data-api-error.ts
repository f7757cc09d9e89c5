import { SqlError } from './client.ts';
import { duplicateKey, sortOut } from './mysql-error.ts';

/** What an error of the AWS SDK carries; every member may be missing. */
interface ServiceError {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly cause?: unknown;
}

/** Nothing was done: the cluster is paused, or too many calls came. */
const RESUMING = 'DatabaseResumingException';
const THROTTLED = new Set(['ThrottlingException', 'TooManyRequestsException']);
/** The service broke while the statement may have been at work. */
const UNCLEAR = new Set([
  'InternalServerErrorException',
  'InternalServerError',
  'ServiceUnavailableError',
  'DatabaseUnavailableException',
  'StatementTimeoutException',
]);
/** The driver's: there was no connection on which anything could have been sent. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/**
 * MySQL's own words for its errors, where the service leaves out their numbers. Later ones of a message do not count:
 * its first words are the server's.
 */
const MESSAGES: readonly (readonly [RegExp, number])[] = [
  [/^Duplicate entry '/u, 1062],
  [/^Deadlock found when trying to get lock/u, 1213],
  [/^Lock wait timeout exceeded/u, 1205],
  [/^Record has changed since last read/u, 1020],
  [/^Unknown database '/u, 1049],
  [/^Table '[^']*' doesn't exist/u, 1146],
  [/^The MySQL server is running with the [^ ]+ option/u, 1290],
  [/^Query execution was interrupted/u, 1317],
  [/^Server shutdown in progress/u, 1053],
  [/^Too many connections/u, 1040],
];
/** A result, or one of its rows, is beyond what the service carries: in the words of its versions. */
const TOO_LARGE =
  /^Packet for query is too large|^Database response exceeded size limit|^Database returned more than the allowed response size limit|size was too large/iu;
/** What the service puts behind MySQL's message. */
const NUMBERED = /^(?<text>.*?); Error code: (?<errno>\d+); SQLState: \w+$/su;

/**
 * Sorts an error of a call by what the caller can conclude.
 *
 * @param timedOut whether the call was abandoned for its time limit
 */
export function toDataApiError(error: unknown, timedOut: boolean): SqlError {
  if (error instanceof SqlError) return error;
  const { name = '', message = String(error), code = '' } = (error ?? {}) as ServiceError;
  if (timedOut)
    return new SqlError('unclear', 'the RDS Data API did not answer in time', { timedOut: true, cause: error });
  if (name.endsWith('Exception') && TOO_LARGE.test(message))
    return new SqlError('rejected', `${name}: ${message}`, { tooLarge: true, cause: error });
  if (name === 'DatabaseErrorException') {
    const { text = message, errno = '0' } = NUMBERED.exec(message)?.groups ?? {};
    const number = Number(errno) || (MESSAGES.find(([pattern]) => pattern.test(text))?.[1] ?? 0);
    // Of an error whose number is not known only its refusal is.
    const failure = number === 0 ? 'rejected' : sortOut(number, true);
    return new SqlError(failure, text, {
      errno: number,
      cause: error,
      ...(failure === 'duplicate' ? { key: duplicateKey(text) } : {}),
    });
  }
  if (name === RESUMING || THROTTLED.has(name) || NEVER_SENT.has(code))
    return new SqlError('unreachable', `${name}: ${message}`, { cause: error });
  if (UNCLEAR.has(name))
    return new SqlError('unclear', `${name}: ${message}`, {
      cause: error,
      timedOut: name === 'StatementTimeoutException',
    });
  // Refused by the service: access, arguments, an endpoint that is not enabled. Anything else is a connection that
  // broke.
  if (name.endsWith('Exception')) return new SqlError('rejected', `${name}: ${message}`, { cause: error });
  return new SqlError('unclear', message, { cause: error });
}

/** The cluster was paused, and is on its way. */
export function isResuming({ cause }: SqlError): boolean {
  return (cause as ServiceError | undefined)?.name === RESUMING;
}

export function isThrottled({ cause }: SqlError): boolean {
  return THROTTLED.has((cause as ServiceError | undefined)?.name ?? '');
}

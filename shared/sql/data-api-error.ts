import { SqlError } from './client.ts';
import { duplicateKey, sortOut, withoutSql, withoutValues } from './mysql-error.ts';

interface ServiceError {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly cause?: unknown;
}

/** Nothing was done: the cluster is paused, or calls are throttled. */
const RESUMING = 'DatabaseResumingException';
const THROTTLED = new Set(['ThrottlingException', 'TooManyRequestsException']);
/** Nothing was done: the cluster, its endpoint or its secret is not ready. */
const NOT_READY = new Set([
  'DatabaseNotFoundException',
  'HttpEndpointNotEnabledException',
  'InvalidResourceStateException',
  'SecretsErrorException',
]);
/** In a `BadRequestException`: the service's connection to the server broke, or was never made. */
const BROKEN = /Communications link failure/u;
const NEVER_MADE = /has not received any packets/u;
/** The service broke while the statement may have been at work. */
const UNCLEAR = new Set([
  'InternalServerErrorException',
  'InternalServerError',
  'ServiceUnavailableError',
  'DatabaseUnavailableException',
  'StatementTimeoutException',
]);
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** MySQL's messages, for when the service leaves out their numbers. Only the first words are the server's. */
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
/** A result or row exceeds what the service carries, in the words of its versions. */
const TOO_LARGE =
  /^Packet for query is too large|^Database response exceeded size limit|^Database returned more than the allowed response size limit|size was too large/iu;
const NUMBERED = /^(?<text>.*?); Error code: (?<errno>\d+); SQLState: \w+$/su;

/** Sorts a call's error by what the caller can conclude; `timedOut`: the call was abandoned. */
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
    const failure = number === 0 ? 'rejected' : sortOut(number, true);
    const told = withoutValues(text, number);
    return new SqlError(failure, told, {
      errno: number,
      cause: withoutSql(error, told),
      ...(failure === 'duplicate' ? { key: duplicateKey(text) } : {}),
    });
  }
  const isBroken = BROKEN.test(message);
  const isUnmade = NOT_READY.has(name) || (isBroken && NEVER_MADE.test(message));
  if (name === RESUMING || THROTTLED.has(name) || NEVER_SENT.has(code) || isUnmade)
    return new SqlError('unreachable', `${name}: ${message}`, { cause: error });
  if (UNCLEAR.has(name) || isBroken)
    return new SqlError('unclear', `${name}: ${message}`, {
      cause: error,
      timedOut: name === 'StatementTimeoutException',
    });
  // Access, arguments. Anything else is a broken connection.
  if (name.endsWith('Exception')) return new SqlError('rejected', `${name}: ${message}`, { cause: error });
  return new SqlError('unclear', message, { cause: error });
}

export function isResuming({ cause }: SqlError): boolean {
  return (cause as ServiceError | undefined)?.name === RESUMING;
}

export function isThrottled({ cause }: SqlError): boolean {
  return THROTTLED.has((cause as ServiceError | undefined)?.name ?? '');
}

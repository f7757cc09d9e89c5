/** The exceptions that the Data API answers with, and their HTTP codes. */
const STATUS = {
  BadRequestException: 400,
  DatabaseErrorException: 400,
  DatabaseResumingException: 400,
  DatabaseUnavailableException: 504,
  HttpEndpointNotEnabledException: 400,
  InternalServerErrorException: 500,
  RequestEntityTooLargeException: 413,
  SecretsErrorException: 400,
  SerializationException: 400,
  StatementTimeoutException: 400,
  ThrottlingException: 400,
  TransactionNotFoundException: 404,
  UnknownOperationException: 404,
  UnsupportedResultException: 400,
  ValidationException: 400,
} as const;

export type ExceptionName = keyof typeof STATUS;

/** What a call is refused with; the SDK throws an error of this name. */
export class DataApiException extends Error {
  override readonly name: ExceptionName;
  /** Further members of the answer. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(name: ExceptionName, message: string, { members = {}, cause }: { members?: Readonly<Record<string, unknown>>; cause?: unknown } = {}) {
    super(message, { cause });
    this.name = name;
    this.members = members;
  }

  get status(): number {
    return STATUS[this.name];
  }
}

/** An error of the MySQL protocol or of the driver; every member may be missing. */
interface DriverError {
  readonly code?: string;
  readonly errno?: number;
  readonly sqlState?: string;
  readonly sqlMessage?: string;
  readonly message?: string;
}

/** ER_CON_COUNT_ERROR is the server's own; everything without a number of the server's is the driver's: no connection. */
export function exceptionOf(error: unknown): DataApiException {
  if (error instanceof DataApiException) return error;
  const { code = '', errno = 0, sqlState = 'HY000', sqlMessage, message = String(error) } = (error ?? {}) as DriverError;
  if (errno > 0 && code.startsWith('ER_')) return new DataApiException('DatabaseErrorException', `${sqlMessage ?? message}; Error code: ${errno}; SQLState: ${sqlState}`, { cause: error });
  if (/^(?:E[A-Z]+|PROTOCOL_[A-Z_]+)$/u.test(code)) return new DataApiException('DatabaseUnavailableException', `The writer instance in the DB cluster isn't available: ${message}`, { cause: error });
  return new DataApiException('InternalServerErrorException', message, { cause: error });
}

/** A member that is missing, too short or too long, in the words of every AWS service. */
export function invalidMember(member: string, value: string, constraint: string): DataApiException {
  return new DataApiException('ValidationException', `1 validation error detected: Value ${value} at '${member}' failed to satisfy constraint: ${constraint}`);
}

/** A member of another JSON type than the service model says. */
export function unexpected(member: string, wanted: string, got: unknown): DataApiException {
  return new DataApiException('SerializationException', `${member}: wanted ${wanted}, got ${typeof got === 'bigint' ? String(got) : (JSON.stringify(got) ?? 'nothing').slice(0, 100)}`);
}

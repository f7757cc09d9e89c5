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

  constructor(
    name: ExceptionName,
    message: string,
    { members = {}, cause }: { members?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
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
  /** The connection is gone. */
  readonly fatal?: boolean;
  readonly sqlState?: string;
  readonly sqlMessage?: string;
  readonly message?: string;
}

/**
 * The server's errors have a number, not always one that the driver has a code for; the system's numbers are below 0.
 */
export function exceptionOf(error: unknown): DataApiException {
  if (error instanceof DataApiException) return error;
  const {
    code = '',
    errno = 0,
    fatal = false,
    sqlState = 'HY000',
    sqlMessage,
    message = String(error),
  } = (error ?? {}) as DriverError;
  if (errno > 0)
    return new DataApiException(
      'DatabaseErrorException',
      `${sqlMessage ?? message}; Error code: ${errno}; SQLState: ${sqlState}`,
      { cause: error },
    );
  if (fatal || /^(?:E[A-Z]+|PROTOCOL_[A-Z_]+)$/u.test(code))
    return new DataApiException(
      'DatabaseUnavailableException',
      `The writer instance in the DB cluster isn't available: ${message}`,
      { cause: error },
    );
  return new DataApiException('InternalServerErrorException', message, { cause: error });
}

/** A member that is missing, too short or too long, in the words of every AWS service. */
export function invalidMember(member: string, value: string, constraint: string): DataApiException {
  return new DataApiException(
    'ValidationException',
    `1 validation error detected: Value ${value} at '${member}' failed to satisfy constraint: ${constraint}`,
  );
}

/** A member of another JSON type than the service model says. */
export function unexpected(member: string, wanted: string, got: unknown): DataApiException {
  return new DataApiException(
    'SerializationException',
    `${member}: wanted ${wanted}, got ${typeof got === 'bigint' ? String(got) : (JSON.stringify(got) ?? 'nothing').slice(0, 100)}`,
  );
}

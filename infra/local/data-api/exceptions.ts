/** The exceptions that the Data API answers with, and their HTTP codes. */
const STATUS = {
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
  UnknownOperationException: 404,
  UnsupportedResultException: 400,
  ValidationException: 400,
} as const;

type ExceptionName = keyof typeof STATUS;

export class DataApiException extends Error {
  override readonly name: ExceptionName;

  constructor(name: ExceptionName, message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.name = name;
  }

  get status(): number {
    return STATUS[this.name];
  }
}

/** An error of the MySQL protocol or of the driver; every member may be missing. */
interface DriverError {
  readonly code?: string;
  /** Above 0: the server's; the system's numbers are below. */
  readonly errno?: number;
  /** The connection is gone. */
  readonly fatal?: boolean;
  readonly sqlState?: string;
  readonly sqlMessage?: string;
  readonly message?: string;
}

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
  const cause = { cause: error };
  if (errno > 0) {
    const text = `${sqlMessage ?? message}; Error code: ${errno}; SQLState: ${sqlState}`;
    return new DataApiException('DatabaseErrorException', text, cause);
  }
  // The driver's own failures have no code.
  if ((fatal && code !== '') || /^(?:E[A-Z]+|PROTOCOL_[A-Z_]+)$/u.test(code)) {
    const text = `The writer instance in the DB cluster isn't available: ${message}`;
    return new DataApiException('DatabaseUnavailableException', text, cause);
  }
  return new DataApiException('InternalServerErrorException', message, cause);
}

const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** What the RDS Data API allows. A number of `Infinity`, or `false`, switches a limit off. */
export interface Limits {
  /** Headers and body of a request. */
  readonly requestBytes: number;
  /** Characters of a statement's text, without its parameters: the service model's own bound. */
  readonly sqlCharacters: number;
  /** What the server sends for a result, without its framing. */
  readonly resultBytes: number;
  readonly rowBytes: number;
  /** The text of a result that is asked for as JSON. */
  readonly formattedBytes: number;
  /** From the start of a statement, or of a whole batch, to its cancellation. */
  readonly statementMs: number;
  /** From the end of a transaction's last call to its rollback. */
  readonly transactionIdleMs: number;
  /** From the start of a transaction to its rollback. */
  readonly transactionTotalMs: number;
  /** A call takes one statement. Off: as many as there are, and the last one's result counts. */
  readonly singleStatement: boolean;
  /** A second call on a busy transaction is refused. Off: it waits, as it did in Aurora Serverless v1. */
  readonly singleCall: boolean;
  /** `schema` is refused. Off: it is ignored, as in Aurora Serverless v1. */
  readonly noSchema: boolean;
  /** ARNs have 11 to 100 characters, a database's name 64 at most, as in the service model. */
  readonly argumentLengths: boolean;
}

export const DEFAULT_LIMITS: Limits = {
  requestBytes: 4 * MIB,
  sqlCharacters: 65_536,
  resultBytes: MIB,
  rowBytes: 64 * KIB,
  formattedBytes: 10 * MIB,
  statementMs: 45 * SECOND_MS,
  transactionIdleMs: 3 * MINUTE_MS,
  transactionTotalMs: 24 * 60 * MINUTE_MS,
  singleStatement: true,
  singleCall: true,
  noSchema: true,
  argumentLengths: true,
};

/** Beyond, a timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** `setTimeout` that never calls where the time is `Infinity`, or over 24 days. Holds no process open. */
export function after(milliseconds: number, call: () => void): NodeJS.Timeout | undefined {
  if (milliseconds > LONGEST_TIMER_MS) return undefined;
  return setTimeout(call, milliseconds).unref();
}

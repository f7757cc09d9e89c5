import type { RetryBudget } from './retry-budget.ts';

export interface UnsignedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface CallLimits {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for the whole call, with all its retries. @default that of the client */
  readonly deadlineMs?: number | undefined;
}

export interface ClientOptions {
  /**
   * The URL of the API: `http://127.0.0.1:4000`, or the invoke URL of the deployed one. With several, each request goes
   * to the first; without an answer, or with a gateway's 502 to 504, at once to the next. A failed one is tried last
   * for ten seconds.
   */
  readonly url: string | readonly string[];
  readonly datastore: string;
  /** Sends each request instead of the client's own connections, which are Node's and kept open. */
  readonly fetch?: typeof globalThis.fetch;
  /** Ends every request, including those under way; none is sent afterwards. */
  readonly signal?: AbortSignal;
  /**
   * Returns the headers to send instead, for instance with AWS Signature Version 4 for `execute-api`. Called for every
   * attempt, since signatures age. @default requests are not signed, as on one machine
   */
  readonly sign?: (request: UnsignedRequest) => Promise<Readonly<Record<string, string>>>;
  /** Sends reads of one turn of the event loop, as with `Promise.all`, in one request. @default true */
  readonly joinReads?: boolean;
  /** Sends short puts of one turn of the event loop in one request; all are answered with the last. @default false */
  readonly joinPuts?: boolean;
  /**
   * Accepts bodies in MessagePack, which the server need not decode; values are the same. False: JSON, as to inspect
   * network traffic. @default true
   */
  readonly messagePack?: boolean;
  /** Attempts for each request; a round over all endpoints is one. @default 5; with a deadline, as many as fit */
  readonly attempts?: number;
  /** Milliseconds for a whole call with its retries. Such a call waits if the retry budget is used up. */
  readonly deadlineMs?: number;
  /**
   * Makes reader reads of rows show this client's writes: it remembers the highest added id of its writes in each
   * shard, and requires it in reads. Asks once for the number of shards. Does not affect index queries and logs.
   * @default false
   */
  readonly readOwnWrites?: boolean;
  /** Retries per request, in addition to 20 and 2 a second; false: any number; or a shared budget. @default 0.1 */
  readonly retryBudget?: number | false | RetryBudget;
  /** Milliseconds for an attempt to be answered. @default 31000, a little over the gateway's own limit */
  readonly timeoutMs?: number;
}

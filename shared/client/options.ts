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
   * Where the API is: `http://127.0.0.1:4000`, or the invoke URL of the deployed one. Of several, each request goes to
   * the first; where it gives no answer, or only a gateway's 502 to 504, at once to the next. One that failed is tried
   * last for ten seconds.
   */
  readonly url: string | readonly string[];
  readonly datastore: string;
  /** Sends each request in place of the client's own connections, which are Node's and kept open. */
  readonly fetch?: typeof globalThis.fetch;
  /** Ends every request, those under way too; none is sent afterwards. */
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
   * Takes answers with bodies in MessagePack, of which the server reads nothing; values are the same. False: in JSON,
   * as for a look at what goes over the network. @default true
   */
  readonly messagePack?: boolean;
  /** Attempts for each request; a round over all endpoints is one. @default 5; with a deadline, as many as fit */
  readonly attempts?: number;
  /** Milliseconds for a whole call with its retries. Such a call waits where the retry budget is used up. */
  readonly deadlineMs?: number;
  /**
   * Reads of rows that ask for a reader show what this client wrote: it remembers the highest added id that a write was
   * answered for each shard, and asks for no less. Asks once for the number of shards. Index queries and logs are as
   * they are. @default false
   */
  readonly readOwnWrites?: boolean;
  /** Retries per request, besides 20 and 2 a second; false: any number; or a shared budget. @default 0.1 */
  readonly retryBudget?: number | false | RetryBudget;
  /** An attempt without an answer in this time is given up. @default 31000, a little over the gateway's own limit */
  readonly timeoutMs?: number;
}

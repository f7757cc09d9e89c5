import type { RetryBudget } from './retry-budget.ts';

/** A request as a signer sees it. */
export interface UnsignedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface ClientOptions {
  /** Where the API is: `http://127.0.0.1:4000`, or the invoke URL of the deployed one. */
  readonly url: string;
  /** The name of the datastore. */
  readonly datastore: string;
  /** Sends each request in place of the client's own connections, which are Node's and kept open. */
  readonly fetch?: typeof globalThis.fetch;
  /** Ends every request, those under way too; none is sent afterwards. */
  readonly signal?: AbortSignal;
  /**
   * Returns the headers to send instead, for instance with AWS Signature Version 4 for `execute-api`. Called for every
   * attempt, since signatures age.
   *
   * @default requests are not signed, as on one machine
   */
  readonly sign?: (request: UnsignedRequest) => Promise<Readonly<Record<string, string>>>;
  /**
   * Sends reads that are begun in the same turn of the event loop, as with `Promise.all`, in one request. @default true
   */
  readonly joinReads?: boolean;
  /**
   * Takes answers with bodies in MessagePack, of which the server reads nothing; values are the same. False: in JSON,
   * as for a look at what goes over the network. @default true
   */
  readonly messagePack?: boolean;
  /** How often a request is sent at most, when it was not answered or may succeed later. @default 5 */
  readonly attempts?: number;
  /**
   * Retries for each request that this client may make as a rule, besides a reserve of 20 and 2 a second; false: any
   * number; or a budget that clients share. @default 0.1
   */
  readonly retryBudget?: number | false | RetryBudget;
  /** An attempt without an answer in this time is given up. @default 31000, a little over the gateway's own limit */
  readonly timeoutMs?: number;
}

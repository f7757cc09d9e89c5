export interface Outgoing {
  readonly method: string;
  /** Without the origin, encoded. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface Incoming {
  readonly status: number;
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
  readonly retryAfter: string | null;
  /** What the answer's log calls the request. */
  readonly requestId: string | null;
  /** JSON.parse loses nothing of it. */
  readonly isPlain: boolean;
}

/** Sends one request once, until the limit in milliseconds or the signal. Rejects without a whole answer. */
export type Exchange = (request: Outgoing, timeoutMs: number, signal?: AbortSignal) => Promise<Incoming>;

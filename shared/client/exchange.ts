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

/**
 * Sends one request once, and gives it up after so many milliseconds, or when the signal comes. Rejects when no whole
 * answer came.
 */
export type Exchange = (request: Outgoing, timeoutMs: number, signal?: AbortSignal) => Promise<Incoming>;

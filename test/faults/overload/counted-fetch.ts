/** A fetch that keeps count of what passes through it. */
export interface CountedFetch {
  readonly fetch: typeof globalThis.fetch;
  /** Requests sent, each try by itself. */
  readonly tries: number;
  /** How long each try took that was answered 503, in milliseconds. */
  readonly refusedMs: readonly number[];
  /** Of those, how many did not say when to come again. */
  readonly withoutRetryAfter: number;
}

const REFUSED = 503;

export function countedFetch(): CountedFetch {
  const refusedMs: number[] = [];
  let [tries, withoutRetryAfter] = [0, 0];
  return {
    async fetch(input, init) {
      tries += 1;
      const start = performance.now();
      const response = await fetch(input, init);
      if (response.status === REFUSED) {
        refusedMs.push(performance.now() - start);
        if (response.headers.get('retry-after') === null) withoutRetryAfter += 1;
      }
      return response;
    },
    get tries() {
      return tries;
    },
    refusedMs,
    get withoutRetryAfter() {
      return withoutRetryAfter;
    },
  };
}

/** A fetch that keeps count of what passes through it. */
export interface CountedFetch {
  readonly fetch: typeof globalThis.fetch;
  /** Requests sent, each try by itself. */
  readonly tries: number;
  /**
   * How long each try took to be answered, whatever the answer was, in milliseconds; one that is still open has taken
   * so long so far.
   */
  waitedMs(): readonly number[];
  /** Tries that were answered 503. */
  readonly refused: number;
  /** Of those, how many did not say when to come again. */
  readonly withoutRetryAfter: number;
}

const REFUSED = 503;

export function countedFetch(): CountedFetch {
  const answeredMs: number[] = [];
  const open = new Set<{ readonly at: number }>();
  let [tries, refused, withoutRetryAfter] = [0, 0, 0];
  return {
    async fetch(input, init) {
      tries += 1;
      const sent = { at: performance.now() };
      open.add(sent);
      const response = await fetch(input, init).finally(() => open.delete(sent));
      answeredMs.push(performance.now() - sent.at);
      if (response.status === REFUSED) {
        refused += 1;
        if (response.headers.get('retry-after') === null) withoutRetryAfter += 1;
      }
      return response;
    },
    get tries() {
      return tries;
    },
    waitedMs: () => [...answeredMs, ...Array.from(open, ({ at }) => performance.now() - at)],
    get refused() {
      return refused;
    },
    get withoutRetryAfter() {
      return withoutRetryAfter;
    },
  };
}

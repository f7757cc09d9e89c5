export const RETRY_SHARE = 0.1;
/** Initial retries, for callers with few requests. */
const RESERVE = 20;
/** Retries that time adds, per second. */
const A_SECOND = 2;

/** A client's budget of retries: a share of its requests, a few a second, a reserve; so retries never multiply load. */
export interface RetryBudget {
  earn(): void;
  /** Returns whether another attempt may be made, and counts it if so. */
  spend(): boolean;
}

/** Returns a budget of `share` retries for each request, 0 to 1; false: any number. */
export function retryBudget(share: number | false, now: () => number = () => performance.now()): RetryBudget {
  if (share === false) return { earn: () => undefined, spend: () => true };
  let tokens = RESERVE;
  let at = now();
  const add = (more: number): void => {
    tokens = Math.min(RESERVE, tokens + more);
  };
  return {
    earn: () => add(share),
    spend() {
      add(((now() - at) / 1000) * A_SECOND);
      at = now();
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}

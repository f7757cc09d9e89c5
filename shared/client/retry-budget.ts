export const RETRY_SHARE = 0.1;
/** Retries that are there from the start, for a caller who asks rarely. */
const RESERVE = 20;
/** What time alone adds, in retries a second. */
const A_SECOND = 2;

/** A client's budget of retries: a share of its requests, a few a second, a reserve; so retries never multiply load. */
export interface RetryBudget {
  earn(): void;
  /** Whether another attempt may be made; it is counted when it may. */
  spend(): boolean;
}

/** `share` is retries for each request, 0 to 1; false: any number. */
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

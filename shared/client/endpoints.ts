import { exchangeByFetch } from './exchange-by-fetch.ts';
import { exchangeByHttp } from './exchange-by-http.ts';
import type { Exchange } from './exchange.ts';
import type { ClientOptions } from './options.ts';

export interface Endpoint {
  readonly origin: string;
  readonly base: string;
  readonly exchange: Exchange;
}

/** Those of one deployment, any of which answers. */
export interface Endpoints {
  /** All of them, in the order in which to try them: as they were given, but for those that failed lately, which come last. */
  inOrder(): readonly Endpoint[];
  failed(endpoint: Endpoint): void;
  answered(endpoint: Endpoint): void;
}

/** How long one that failed is tried last. Then a single request tries it again. */
const REMEMBERED_MS = 10_000;

/**
 * @param now milliseconds that only go forward
 * @throws TypeError where there is none, or one is no URL
 */
export function endpointsOf(
  { url, datastore, fetch }: ClientOptions,
  now: () => number = () => performance.now(),
): Endpoints {
  const urls = [url].flat();
  // Also what was read from an environment that lacks it.
  if (!String(url).startsWith('http')) throw new TypeError(`url: wanted a URL, got ${url as string}`);
  const all = urls.map((one): Endpoint => {
    const { origin, pathname } = new URL(one);
    const exchange = fetch ? exchangeByFetch(fetch, origin) : exchangeByHttp(origin, urls.length > 1);
    return { origin, base: `${pathname.replace(/\/+$/, '')}/v1/${encodeURIComponent(datastore)}`, exchange };
  });
  /** Until when, of those that failed. */
  const avoided = new Map<Endpoint, number>();
  return {
    inOrder() {
      if (avoided.size === 0) return all;
      const last = all.filter((one) => {
        const until = avoided.get(one);
        if (until === undefined || now() < until) return until !== undefined;
        // This request finds out; others go on as before until it has.
        avoided.set(one, now() + REMEMBERED_MS);
        return false;
      });
      return [...all.filter((one) => !last.includes(one)), ...last];
    },
    failed: (endpoint) => void (all.length > 1 && avoided.set(endpoint, now() + REMEMBERED_MS)),
    answered: (endpoint) => void (avoided.size > 0 && avoided.delete(endpoint)),
  };
}

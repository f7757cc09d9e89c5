import { exchangeByFetch, type Exchange, exchangeByHttp } from './exchange.ts';
import type { ClientOptions } from './options.ts';

export interface Endpoint {
  readonly origin: string;
  readonly base: string;
  readonly exchange: Exchange;
}

/** The endpoints of one deployment, any of which answers. */
export interface Endpoints {
  /** Returns all of them in the order to try them: as given, but with those that failed recently last. */
  inOrder(): readonly Endpoint[];
  /**
   * Returns whether a request that another endpoint did not answer may go to this one without counting as a retry: it
   * answers, or was never tried. The first of several requests tries it, and the others wait for its outcome.
   */
  mayTurnTo(endpoint: Endpoint): Promise<boolean>;
  failed(endpoint: Endpoint): void;
  answered(endpoint: Endpoint): void;
  /** The caller ended the request, which says nothing of the endpoint. */
  ended(endpoint: Endpoint): void;
}

/** How long a failed endpoint is tried last. Then a single request tries it again. */
const REMEMBERED_MS = 10_000;

/** A first request to an endpoint, which others wait for. */
interface Trial {
  readonly isAnswered: Promise<boolean>;
  readonly end: (isAnswered: boolean) => void;
}

function newTrial(): Trial {
  let end: Trial['end'] = () => undefined;
  const isAnswered = new Promise<boolean>((resolve) => (end = resolve));
  return { isAnswered, end: (answer) => end(answer) };
}

/** `now`: milliseconds of a steady clock. Throws TypeError without an endpoint, or if one is not a URL. */
export function endpointsOf(
  { url, datastore, fetch }: ClientOptions,
  now: () => number = () => performance.now(),
): Endpoints {
  const urls = [url].flat();
  // At run time it may be undefined, from a missing environment variable.
  if (!String(url).startsWith('http')) throw new TypeError(`url: wanted a URL, got ${url as string}`);
  const all = urls.map((one): Endpoint => {
    const { origin, pathname } = new URL(one);
    const exchange = fetch ? exchangeByFetch(fetch, origin) : exchangeByHttp(origin, urls.length > 1);
    return { origin, base: `${pathname.replace(/\/+$/, '')}/v1/${encodeURIComponent(datastore)}`, exchange };
  });
  /** The end of the avoidance of each failed endpoint. */
  const avoided = new Map<Endpoint, number>();
  const answers = new Map<Endpoint, boolean>();
  const trials = new Map<Endpoint, Trial>();
  const endTrial = (endpoint: Endpoint, isAnswered: boolean): void => {
    trials.get(endpoint)?.end(isAnswered);
    trials.delete(endpoint);
  };
  const learn = (endpoint: Endpoint, isAnswered: boolean): void => {
    answers.set(endpoint, isAnswered);
    endTrial(endpoint, isAnswered);
  };
  return {
    inOrder() {
      if (avoided.size === 0) return all;
      const last = all.filter((one) => {
        const until = avoided.get(one);
        if (until === undefined || now() < until) return until !== undefined;
        // This request tries it; others still avoid it until then.
        avoided.set(one, now() + REMEMBERED_MS);
        return false;
      });
      return [...all.filter((one) => !last.includes(one)), ...last];
    },
    async mayTurnTo(endpoint) {
      const known = answers.get(endpoint) ?? trials.get(endpoint)?.isAnswered;
      if (known === undefined) trials.set(endpoint, newTrial());
      return known ?? true;
    },
    failed(endpoint) {
      if (all.length === 1) return;
      avoided.set(endpoint, now() + REMEMBERED_MS);
      learn(endpoint, false);
    },
    answered(endpoint) {
      if (all.length === 1) return;
      avoided.delete(endpoint);
      learn(endpoint, true);
    },
    ended: (endpoint) => endTrial(endpoint, false),
  };
}

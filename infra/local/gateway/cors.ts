import type { OutgoingHttpHeaders } from 'node:http';

/** Which web pages of other origins may ask, as an HTTP API's configuration says it. */
export interface CorsRules {
  /** `*` stands for all, and `http://localhost:*` for a host at any port. */
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  readonly headers: readonly string[];
  readonly exposed: readonly string[];
  readonly maxAgeSeconds: number | undefined;
}

/** What a request says of where it comes from. */
interface CorsRequest {
  readonly method: string;
  /** Of the page; undefined for programs that are no browser. */
  readonly origin: string | undefined;
  /** What a preflight request asks for; undefined for all others. */
  readonly requestedMethod: string | undefined;
}

/** Whether the gateway answers a request by itself: a browser asks whether it may. */
export function isPreflight({ method, origin, requestedMethod }: CorsRequest): boolean {
  return method === 'OPTIONS' && origin !== undefined && requestedMethod !== undefined;
}

/**
 * What to tell a page that may not ask, and asks for what could change something; undefined for all others. Its browser
 * would show it no answer, but has the request done: forms and texts are sent without a preflight.
 */
export function whyForeign(rules: CorsRules | undefined, { method, origin }: CorsRequest): string | undefined {
  const origins = rules?.origins ?? [];
  if (origin === undefined || UNCHANGING.has(method) || mayAsk(origins, origin)) return undefined;
  const wanted = origins.length === 0 ? 'no web page' : `a page of ${origins.join(', ')}`;
  return `origin: wanted ${wanted}, got ${JSON.stringify(origin)}; npm start -- --cors says which pages may ask`;
}

const UNCHANGING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

function mayAsk(origins: readonly string[], origin: string): boolean {
  return origins.some((named) => {
    if (named === '*' || named === origin) return true;
    if (!named.endsWith(':*')) return false;
    const host = named.slice(0, -':*'.length);
    return origin === host || (origin.startsWith(`${host}:`) && /^\d+$/u.test(origin.slice(host.length + 1)));
  });
}

/** The headers of an answer with those of `corsHeaders`; what it depends on comes to what it depended on before. */
export function withCors(answered: OutgoingHttpHeaders, cors: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const both = { ...answered, ...cors };
  const vary = [answered['vary'], cors['vary']].filter((one) => one !== undefined).join(', ');
  return vary === '' ? both : { ...both, vary };
}

/**
 * The headers of an answer, which let a browser hand it to the page; where the page may not ask, none but `vary`, so
 * that no cache hands the answer for one page to another.
 */
export function corsHeaders(rules: CorsRules, request: CorsRequest): OutgoingHttpHeaders {
  const { origin } = request;
  const isOpen = rules.origins.includes('*');
  const vary = isOpen ? {} : { vary: 'origin' };
  if (origin === undefined || !mayAsk(rules.origins, origin)) return vary;
  const who = { ...vary, 'access-control-allow-origin': isOpen ? '*' : origin };
  if (!isPreflight(request))
    return { ...who, ...(rules.exposed.length > 0 && { 'access-control-expose-headers': rules.exposed.join(',') }) };
  return {
    ...who,
    'access-control-allow-methods': rules.methods.join(','),
    'access-control-allow-headers': rules.headers.join(','),
    ...(rules.maxAgeSeconds !== undefined && { 'access-control-max-age': String(rules.maxAgeSeconds) }),
  };
}

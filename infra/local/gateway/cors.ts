import type { OutgoingHttpHeaders } from 'node:http';

export interface CorsRules {
  /** `*` allows all origins, `http://localhost:*` a host at any port. */
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  readonly headers: readonly string[];
  readonly exposed: readonly string[];
  readonly maxAgeSeconds: number | undefined;
}

interface CorsRequest {
  readonly method: string;
  readonly origin: string | undefined;
  readonly requestedMethod: string | undefined;
}

/** True for a browser's question whether a request is allowed. */
export function isPreflight({ method, origin, requestedMethod }: CorsRequest): boolean {
  return method === 'OPTIONS' && origin !== undefined && requestedMethod !== undefined;
}

/** Returns why a page may not send a changing request: browsers send forms of any page unasked. */
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

/** Merges the headers; `vary` lists what both depend on. */
export function withCors(answered: OutgoingHttpHeaders, cors: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const both = { ...answered, ...cors };
  const vary = [answered['vary'], cors['vary']].filter((one) => one !== undefined).join(', ');
  return vary === '' ? both : { ...both, vary };
}

/** Returns the headers that let the page read an answer; for other pages `vary` alone, for caches. */
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

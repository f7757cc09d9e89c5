import type { OutgoingHttpHeaders } from 'node:http';

/** Which web pages of other origins may ask, as an HTTP API's configuration says it. */
export interface CorsRules {
  /** `*` stands for all. */
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  readonly headers: readonly string[];
  readonly exposed: readonly string[];
  readonly maxAgeSeconds: number | undefined;
}

/** What a request says of where it comes from. */
export interface CorsRequest {
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

/** The headers of an answer, which let a browser hand it to the page; none where the page may not ask. */
export function corsHeaders(rules: CorsRules, request: CorsRequest): OutgoingHttpHeaders {
  const { origin } = request;
  const isOpen = rules.origins.includes('*');
  if (origin === undefined || !(isOpen || rules.origins.includes(origin))) return {};
  const who = isOpen ? { 'access-control-allow-origin': '*' } : { 'access-control-allow-origin': origin };
  if (!isPreflight(request))
    return { ...who, ...(rules.exposed.length > 0 && { 'access-control-expose-headers': rules.exposed.join(',') }) };
  return {
    ...who,
    'access-control-allow-methods': rules.methods.join(','),
    'access-control-allow-headers': rules.headers.join(','),
    ...(rules.maxAgeSeconds !== undefined && { 'access-control-max-age': String(rules.maxAgeSeconds) }),
  };
}

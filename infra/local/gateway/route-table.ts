export interface HttpRoute {
  /** `GET /v1/{datastore}/shards`, `ANY /v1/{proxy+}`, or `$default`. */
  readonly routeKey: string;
  readonly functionArn: string;
  readonly timeoutMs: number;
  readonly authorization: 'AWS_IAM' | 'NONE';
  readonly apiId: string;
}

export interface Match<Target> {
  readonly target: Target;
  readonly routeKey: string;
  readonly parameters: Readonly<Record<string, string>>;
}

export interface RouteTable<Target> {
  /** Returns the most specific route: a literal before a parameter, before `{name+}`. */
  match(method: string, segments: readonly string[]): Match<Target> | undefined;
}

interface Entry<Target> {
  readonly method: string;
  /** Literals, `{name}`, and at the end perhaps `{name+}`. */
  readonly parts: readonly Part[];
  readonly routeKey: string;
  readonly target: Target;
}

interface Part {
  readonly text: string;
  readonly kind: 'literal' | 'parameter' | 'greedy';
}

/** The earlier are more specific. */
const KINDS = ['literal', 'parameter', 'greedy'] as const;

/** Throws an `Error` for an invalid route key. */
export function routeTable<Target>(
  routes: readonly { readonly routeKey: string; readonly target: Target }[],
): RouteTable<Target> {
  const fallback = routes.find(({ routeKey }) => routeKey === '$default');
  const entries = routes
    .filter((route) => route !== fallback)
    .map((route): Entry<Target> => {
      const [, method, path] = /^([A-Z]+) \/(.*)$/u.exec(route.routeKey) ?? [];
      if (method === undefined || path === undefined)
        throw new Error(`route key: wanted a method and a path, got ${JSON.stringify(route.routeKey)}`);
      return { ...route, method, parts: path.split('/').map(partOf) };
    })
    .toSorted((one, other) => rankOf(one).localeCompare(rankOf(other)));

  return {
    match(method, segments) {
      for (const { method: wanted, parts, routeKey, target } of entries) {
        const parameters = wanted === method || wanted === 'ANY' ? parametersOf(parts, segments) : undefined;
        if (parameters) return { target, routeKey, parameters };
      }
      return fallback && { ...fallback, parameters: {} };
    },
  };
}

function partOf(segment: string): Part {
  const [, name, plus] = /^\{([^+}]+)(\+?)\}$/u.exec(segment) ?? [];
  if (name === undefined) return { text: segment, kind: 'literal' };
  return { text: name, kind: plus === '+' ? 'greedy' : 'parameter' };
}

function rankOf({ method, parts }: Entry<unknown>): string {
  return `${method === 'ANY' ? 1 : 0}${parts.map(({ kind }) => KINDS.indexOf(kind)).join('')}`;
}

/** Undefined for other segments. An empty segment is no parameter. */
function parametersOf(parts: readonly Part[], segments: readonly string[]): Record<string, string> | undefined {
  const parameters: Record<string, string> = {};
  for (const [at, { text, kind }] of parts.entries()) {
    const segment = segments[at];
    if (segment === undefined || (kind === 'literal' && segment !== text)) return undefined;
    if (kind === 'parameter' && segment === '') return undefined;
    if (kind === 'greedy') return { ...parameters, [text]: segments.slice(at).join('/') };
    if (kind === 'parameter') parameters[text] = segment;
  }
  return parts.length === segments.length ? parameters : undefined;
}

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

interface Node<Target> {
  readonly literals: Map<string, Node<Target>>;
  parameter: Node<Target> | undefined;
  greedy: Leaf<Target> | undefined;
  leaf: Leaf<Target> | undefined;
}

interface Leaf<Target> {
  readonly routeKey: string;
  readonly target: Target;
  readonly names: readonly string[];
}

/** Throws an `Error` for an invalid route key. */
export function routeTable<Target>(
  routes: readonly { readonly routeKey: string; readonly target: Target }[],
): RouteTable<Target> {
  const methods = new Map<string, Node<Target>>();
  let fallback: Leaf<Target> | undefined;

  for (const { routeKey, target } of routes) {
    const [, method, path] = /^([A-Z]+) \/(.*)$/u.exec(routeKey) ?? [];
    if (routeKey === '$default') fallback = { routeKey, target, names: [] };
    else if (method === undefined || path === undefined)
      throw new Error(`route key: wanted a method and a path, got ${JSON.stringify(routeKey)}`);
    else insert(rootOf(method), path.split('/'), { routeKey, target });
  }

  function rootOf(method: string): Node<Target> {
    const root = methods.get(method) ?? emptyNode();
    methods.set(method, root);
    return root;
  }

  return {
    match(method, segments) {
      const values: string[] = [];
      const leaf =
        find(methods.get(method), segments, 0, values) ?? find(methods.get('ANY'), segments, 0, values) ?? fallback;
      if (!leaf) return undefined;
      const parameters: Record<string, string> = {};
      for (const [index, name] of leaf.names.entries()) parameters[name] = values[index] ?? '';
      return { target: leaf.target, routeKey: leaf.routeKey, parameters };
    },
  };
}

function emptyNode<Target>(): Node<Target> {
  return { literals: new Map(), parameter: undefined, greedy: undefined, leaf: undefined };
}

function insert<Target>(
  root: Node<Target>,
  segments: readonly string[],
  route: { readonly routeKey: string; readonly target: Target },
): void {
  const names: string[] = [];
  let node = root;
  for (const segment of segments) {
    const [, name, plus] = /^\{([^+}]+)(\+?)\}$/u.exec(segment) ?? [];
    if (name === undefined) {
      const next = node.literals.get(segment) ?? emptyNode();
      node.literals.set(segment, next);
      node = next;
      continue;
    }
    names.push(name);
    if (plus === '+') {
      node.greedy = { ...route, names };
      return;
    }
    node.parameter ??= emptyNode();
    node = node.parameter;
  }
  node.leaf = { ...route, names };
}

/** Leaves the parameters' values in `values`. */
function find<Target>(
  node: Node<Target> | undefined,
  segments: readonly string[],
  at: number,
  values: string[],
): Leaf<Target> | undefined {
  const segment = segments[at];
  if (!node) return undefined;
  if (segment === undefined) return node.leaf;
  const literal = find(node.literals.get(segment), segments, at + 1, values);
  if (literal) return literal;
  const before = values.length;
  // An empty segment is no value.
  if (node.parameter && segment !== '') {
    values.push(segment);
    const found = find(node.parameter, segments, at + 1, values);
    if (found) return found;
    values.length = before;
  }
  if (!node.greedy) return undefined;
  values.push(segments.slice(at).join('/'));
  return node.greedy;
}

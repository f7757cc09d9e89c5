import type { Json } from '../cell.ts';
import type { Operation } from './operation.ts';
import { ROUTES } from './operations.ts';
import { namesIn, PATH } from './path.ts';
import { responsesOf } from './responses.ts';
import type { Components } from './shape.ts';

/** From the first release on it goes up with each change that users can see; the first number, with breaking changes. */
const API_VERSION = '1.0.0';

type Named = Operation & { readonly operation: string };

/**
 * The HTTP API as an OpenAPI 3.1 document. `isSigned`: requests have to be signed, as in the cloud: tools that read the
 * document refuse others then.
 */
export function openApi({
  isSigned,
  routes = ROUTES,
}: {
  readonly isSigned: boolean;
  readonly routes?: readonly Named[];
}): Json {
  const components: Components = {};
  const paths = pathsOf(routes, components);
  const schemas = Object.fromEntries(Object.entries(components).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  return {
    ...PARTS,
    paths,
    security: isSigned ? [{ iam: [] }] : [],
    components: { schemas, ...(isSigned && { securitySchemes: SECURITY }) },
  };
}

const PARTS: { readonly [member: string]: Json } = {
  openapi: '3.1.0',
  info: {
    title: 'Schemaless',
    version: API_VERSION,
    description:
      'An append-only, sharded store of versioned JSON cells. Every request can be repeated safely. Every answer carries `x-request-id`, which is that of the request where it has one. ' +
      'Answers with bodies of cells go in MessagePack where `accept` names it (`application/vnd.msgpack`) and does not prefer JSON; what only JSON can say, or what would be too long, comes as JSON all the same. ' +
      'A `GET` that succeeds carries an `etag`; a request whose `if-none-match` names it is answered 304 without a body as long as the answer is the same. MessagePack has no tag. ' +
      'Paths and methods that are not here are answered 404, `unknown_route`.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/' }],
};

const SECURITY: Json = {
  iam: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'AWS Signature Version 4, for `execute-api`.',
  },
};

function pathsOf(routes: readonly Named[], components: Components): { readonly [path: string]: Json } {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = described(route, components);
  return paths;
}

function described(route: Named, components: Components): Json {
  const { operation, path, summary, more, body, bodyExample, mayLackBody } = route;
  return {
    operationId: operation,
    summary,
    ...(more === undefined ? {} : { description: more }),
    parameters: [...pathParameters(path, components), ...queryParameters(route, components)],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: mayLackBody !== true,
            content: {
              'application/json': {
                schema: body.describe(components),
                ...(bodyExample !== undefined && { example: bodyExample }),
              },
            },
          },
        }),
    responses: responsesOf(route, components),
  };
}

function pathParameters(path: string, components: Components): readonly Json[] {
  return namesIn(path).map((name) => {
    const { shape, example } = PATH[name];
    const { description = '', ...schema } = shape.describe(components);
    return { name, in: 'path', required: true, schema, description, example };
  });
}

function queryParameters({ query = {}, where }: Operation, components: Components): readonly Json[] {
  const named = Object.entries(query).map(([name, { describe, description, example, isJoined, wanted }]) => ({
    name,
    in: 'query',
    required: wanted !== undefined,
    schema: describe(components),
    description,
    example,
    ...(isJoined && { explode: false }),
  }));
  if (where === undefined) return named;
  const { describe, description, example } = where;
  return [
    { name: 'conditions', in: 'query', required: false, schema: describe(components), description, example },
    ...named,
  ];
}

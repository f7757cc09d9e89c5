import type { Json } from '../cell.ts';
import type { Operation } from './operation.ts';
import { ROUTES, type Route } from './operations.ts';
import { namesIn, PATH } from './path.ts';
import { responsesOf } from './responses.ts';
import type { Components } from './shape.ts';

/** From the first release on, rises with each change that users can see; the first number, with breaking changes. */
const API_VERSION = '1.0.0';

/**
 * Returns the HTTP API as an OpenAPI 3.1 document. `isSigned`: requests must be signed, as in the cloud; tools that
 * read the document then refuse others.
 */
export function openApi({ isSigned }: { readonly isSigned: boolean }): Json {
  const components: Components = {};
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of ROUTES) (paths[route.path] ??= {})[route.method.toLowerCase()] = described(route, components);
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
      'An append-only, sharded store of versioned JSON cells. Every request can be repeated safely. Every answer carries `x-request-id`, which is that of the request if it has one. ' +
      'Answers with bodies of cells are MessagePack if `accept` names it (`application/vnd.msgpack`) and does not prefer JSON. They are JSON if only JSON can express them, or if they would be too long. ' +
      'A `GET` that succeeds carries an `etag`, except in MessagePack: send it as `if-none-match` to get 304 until the answer changes. `HEAD` is answered as `GET`, without the body. ' +
      'Other paths are answered 404, `unknown_route`, and other methods 405, `method_not_allowed`, with the header `allow`.',
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

const IF_NONE_MATCH: Json = {
  name: 'if-none-match',
  in: 'header',
  required: false,
  schema: { type: 'string' },
  description: 'The `etag` of an answer: 304 as long as it is the same.',
  example: 'W/"47DEQpj8HBSa-_TImW-5JC"',
};

function described(route: Route, components: Components): Json {
  const { operation, method, path, summary, more, body, bodyExample, mayLackBody } = route;
  return {
    operationId: operation,
    summary,
    ...(more === undefined ? {} : { description: more }),
    parameters: [
      ...pathParameters(path, components),
      ...queryParameters(route, components),
      ...(method === 'GET' ? [IF_NONE_MATCH] : []),
    ],
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
  const { describe, description, example, isRequired } = where;
  return [
    {
      name: 'conditions',
      in: 'query',
      required: isRequired === true,
      schema: describe(components),
      description,
      example,
    },
    ...named,
  ];
}

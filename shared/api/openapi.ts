import type { Json } from '../cell.ts';
import { BATCHES } from './describe/batches.ts';
import { CELLS } from './describe/cells.ts';
import { DEFINITIONS } from './describe/definitions.ts';
import type { Description } from './describe/description.ts';
import { ERASURES } from './describe/erasures.ts';
import { INDEXES } from './describe/indexes.ts';
import { MOVES } from './describe/moves.ts';
import { SERVICE } from './describe/service.ts';
import { SHARDS } from './describe/shards.ts';
import { TRIGGERS } from './describe/triggers.ts';
import { PATH_PARAMETERS, QUERY_PARAMETERS } from './parameters.ts';
import { responsesOf } from './responses.ts';
import { ROUTES, type Operation, type Route } from './routes.ts';
import { SCHEMAS } from './schemas.ts';

/** From the first release on it goes up with each change that users can see; the first number, with breaking changes. */
const API_VERSION = '1.0.0';

/** A new route without a description does not compile. */
const DESCRIPTIONS: Readonly<Record<Operation, Description>> = {
  ...CELLS,
  ...BATCHES,
  ...SHARDS,
  ...INDEXES,
  ...TRIGGERS,
  ...MOVES,
  ...ERASURES,
  ...DEFINITIONS,
  ...SERVICE,
};

/**
 * The HTTP API as an OpenAPI 3.1 document, made from the routes. `isSigned`: requests have to be signed, as in the
 * cloud: tools that read the document refuse others then.
 */
export function openApi({ isSigned }: { readonly isSigned: boolean }): Json {
  return isSigned ? SIGNED : UNSIGNED;
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
  paths: pathsOf(ROUTES),
};

const UNSIGNED: Json = { ...PARTS, security: [], components: { schemas: SCHEMAS } };

const SIGNED: Json = {
  ...PARTS,
  security: [{ iam: [] }],
  components: {
    schemas: SCHEMAS,
    securitySchemes: {
      iam: {
        type: 'apiKey',
        in: 'header',
        name: 'Authorization',
        description: 'AWS Signature Version 4, for `execute-api`.',
      },
    },
  },
};

function pathsOf(routes: readonly Route[]): { readonly [path: string]: Json } {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const methods = (paths[route.path] ??= {});
    methods[route.method.toLowerCase()] = operationOf(route, DESCRIPTIONS[route.operation]);
  }
  return paths;
}

function operationOf({ operation, path }: Route, description: Description): Json {
  const { summary, more, request } = description;
  return {
    operationId: operation,
    summary,
    ...(more === undefined ? {} : { description: more }),
    parameters: [...pathParameters(path), ...queryParameters(description.query ?? [])],
    ...(request === undefined
      ? {}
      : {
          requestBody: {
            required: request.optional !== true,
            content: { 'application/json': { schema: request.schema, example: request.example } },
          },
        }),
    responses: responsesOf(description),
  };
}

function pathParameters(path: string): readonly Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const parameter = PATH_PARAMETERS[name];
    if (parameter === undefined) throw new Error(`${path}: the parameter ${name} is not described`);
    return { name, in: 'path', required: true, ...parameter };
  });
}

function queryParameters(names: NonNullable<Description['query']>): readonly Json[] {
  return names.map((key) => {
    const { name, ...parameter } = QUERY_PARAMETERS[key];
    return { name, in: 'query', required: false, ...parameter };
  });
}

import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { openApi } from '../../../shared/api/openapi.ts';
import { ROUTES, type Route } from '../../../shared/api/operations.ts';
import type { Json } from '../../../shared/cell.ts';
import { fakeDeployment } from '../../functions/support/fake-deployment.ts';
import { gateway } from '../../functions/support/gateway.ts';
import { schemaCheck, type Document } from './support/answer-check.ts';
import { fitting, nearly } from './support/draws.ts';

/** Draws of all operations together. */
const DRAWS = 20_000;

const DOCUMENT = openApi({ isSigned: false }) as unknown as Document;
const COMPONENTS = (DOCUMENT.components as { readonly schemas: Record<string, Record<string, unknown>> }).schemas;
const fits = schemaCheck(DOCUMENT);

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: Json;
  readonly example: Json;
  readonly explode?: boolean;
}

/** Parameters that mean something together, or by a definition that no schema knows: by operation. They are not drawn. */
const BEYOND: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  readShardLog: { after: '0' },
  digestLog: {},
  queryIndex: { driver_uuid: '7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10' },
  countEntries: { driver_uuid: '7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10' },
  deleteIndex: { confirm: 'driver_index' },
  deleteTrigger: { confirm: 'bill_rider' },
  listParkedCells: {},
  listForgotten: {},
  listBufferConflicts: {},
  listUndecidedWrites: {},
};
const NOT_DRAWN: Readonly<Record<string, readonly string[]>> = {
  readShardLog: ['after', 'since'],
  digestLog: ['at', 'after', 'digest'],
  queryIndex: ['conditions', 'fields', 'order', 'after', 'column'],
  countEntries: ['conditions'],
  deleteIndex: ['confirm'],
  deleteTrigger: ['confirm'],
  // Cursors are text to a caller.
  listParkedCells: ['after'],
  listForgotten: ['after'],
  listBufferConflicts: ['after'],
  listUndecidedWrites: ['after'],
};
const PATH: Readonly<Record<string, string>> = { index: 'driver_index', trigger: 'bill_rider', datastore: 'trips' };
/** Each target is a path. */
const WHOLE_BODIES_BEYOND = ['batchRead', 'batchQuery'];

const OF_FORM = ['invalid_field', 'missing_field', 'unknown_field', 'invalid_json'];

/** A request, and whether the document allows it. */
interface Draw {
  readonly path: string;
  readonly body: string | undefined;
  readonly isAllowed: boolean;
}

function drawsOf(route: Route): fc.Arbitrary<Draw> {
  const operation = DOCUMENT.paths[route.path]?.[route.method.toLowerCase()];
  if (operation === undefined) throw new Error(`${route.operation} is not in the document`);
  const parameters = operation.parameters as unknown as readonly Parameter[];
  const inPath = parameters.filter((one) => one.in === 'path');
  const inQuery = parameters.filter(
    (one) => one.in === 'query' && NOT_DRAWN[route.operation]?.includes(one.name) !== true,
  );
  return fc
    .tuple(
      fc.tuple(...inPath.map((one) => pathText(one))),
      fc.tuple(...inQuery.map((one) => fc.option(queryText(one), { nil: undefined, freq: 3 }))),
      bodyOf(route),
      fc.constantFrom('', '', '', '', '', 'stranger'),
    )
    .map(([path, query, body, stranger]): Draw => {
      const pairs = inQuery.flatMap(({ name }, at) => (query[at] === undefined ? [] : [[name, query[at]] as const]));
      const others = Object.entries(BEYOND[route.operation] ?? {});
      // A parameter of any other name is a condition there.
      const odd = stranger === '' || route.where !== undefined ? [] : [[stranger, '1'] as const];
      const all = [...pairs, ...others, ...odd].map(([name, text]) => `${name}=${encodeURIComponent(text)}`);
      const filled = inPath.reduce(
        (text, { name }, at) => text.replace(`{${name}}`, encodeURIComponent(path[at] ?? '')),
        route.path,
      );
      return {
        path: all.length === 0 ? filled : `${filled}?${all.join('&')}`,
        body: body.text,
        isAllowed:
          odd.length === 0 &&
          inPath.every(({ schema }, at) => fits(schema, valueOf(schema, path[at] ?? '')).length === 0) &&
          pairs.every(([name, text]) => {
            const { schema } = inQuery.find((one) => one.name === name) as Parameter;
            return fits(schema, valueOf(schema, text)).length === 0;
          }) &&
          body.isAllowed,
      };
    });
}

const ODD_TEXTS = ['-1', '01', '1.0', '1e3', ' ', 'x', 'TRUE', '9007199254740992', 'ünï', '.'];

function pathText({ name, schema, example }: Parameter): fc.Arbitrary<string> {
  const usual = fc.constant(PATH[name] ?? String(example));
  return fc.oneof(
    { arbitrary: usual, weight: 6 },
    textsOf(schema),
    fc.constantFrom(...ODD_TEXTS.filter((one) => one !== '.')),
  );
}

function queryText({ schema }: Parameter): fc.Arbitrary<string> {
  return fc.oneof({ arbitrary: textsOf(schema), weight: 4 }, fc.constantFrom(...ODD_TEXTS, ''));
}

/** Nothing with a percent sign, which is refused in any path, and no part of a path that leads elsewhere. */
function textsOf(schema: Json): fc.Arbitrary<string> {
  return fitting(schema as Record<string, unknown>, COMPONENTS)
    .map((value) => (Array.isArray(value) ? String(value[0] ?? 'BASE') : String(value)))
    .filter((text) => text !== '' && !/[%/]|^\.+$/u.test(text));
}

/** What a parameter's text is a value of: a number where digits alone are one. */
function valueOf(schema: Json, text: string): Json {
  const whole = resolved(schema);
  if (whole['type'] === 'integer') return /^(?:0|[1-9]\d*)$/u.test(text) ? Number(text) : text;
  return whole['type'] === 'array' ? [text] : text;
}

function resolved(schema: Json): Readonly<Record<string, unknown>> {
  const { $ref } = schema as { readonly $ref?: string };
  return $ref === undefined
    ? (schema as Record<string, unknown>)
    : (COMPONENTS[$ref.split('/').at(-1) ?? ''] as Record<string, unknown>);
}

interface DrawnBody {
  readonly text: string | undefined;
  readonly isAllowed: boolean;
}

function bodyOf(route: Route): fc.Arbitrary<DrawnBody> {
  if (route.body === undefined) return fc.constant({ text: undefined, isAllowed: true });
  const { operation, bodyExample } = route;
  if (WHOLE_BODIES_BEYOND.includes(operation))
    return fc.constant({ text: JSON.stringify({ targets: [] }), isAllowed: true });
  const schema = route.body.describe({}) as Json;
  const usual = bodyExample === undefined ? fc.constant<Json>({}) : fc.constant(bodyExample);
  const drawn = fitting(schema as Record<string, unknown>, COMPONENTS);
  const value = fc.oneof(
    usual,
    { arbitrary: drawn, weight: 3 },
    { arbitrary: nearly(drawn), weight: 3 },
    nearly(usual),
  );
  const given = value.map((json): DrawnBody => ({
    text: JSON.stringify(json),
    isAllowed: fits(schema, json).length === 0,
  }));
  const none: DrawnBody = { text: undefined, isAllowed: route.mayLackBody === true };
  return fc.oneof({ arbitrary: given, weight: 20 }, fc.constant(none));
}

describe('the document and the server agree on what may be asked', () => {
  let ask: ReturnType<typeof gateway>;
  beforeAll(() => {
    ask = gateway(fakeDeployment());
  });

  it.each(ROUTES.map((route) => [route.operation, route] as const))('%s', async (_operation, route) => {
    const seen = { allowed: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(drawsOf(route), async ({ path, body, isAllowed }) => {
        const { status, json, operation } = await ask({ method: route.method, path, body });
        // A name in the path may lead to another route, as `versions` in place of a ref key does.
        fc.pre(operation === route.operation);
        const isRefused = (status === 400 || status === 422) && OF_FORM.includes(String(json['code']));
        seen[isRefused ? 'refused' : 'allowed'] += 1;
        expect({ path, body, isRefused, said: isRefused ? json['detail'] : status }).toEqual({
          path,
          body,
          isRefused: !isAllowed,
          said: expect.anything() as unknown,
        });
      }),
      // The document itself is long, and takes no parameter.
      { numRuns: route.operation === 'getOpenApi' ? 20 : Math.ceil(DRAWS / (ROUTES.length - 1)) },
    );
    expect(seen.allowed).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  });
});

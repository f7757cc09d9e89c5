import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { openApi } from '../../../shared/api/openapi.ts';
import { BUFFER_CHANGES, BUFFER_READS } from '../../../shared/api/buffer.ts';
import { ERASURES } from '../../../shared/api/erasures.ts';
import { MOVES } from '../../../shared/api/moves.ts';
import { SUBJECTS } from '../../../shared/api/subjects.ts';
import { TRIGGERS } from '../../../shared/api/triggers.ts';
import { ROUTES, type Route } from '../../../shared/api/operations.ts';
import type { Json } from '../../../shared/cell.ts';
import { parseTime } from '../../../shared/time.ts';
import { fakeDeployment } from '../../functions/support/fake-deployment.ts';
import { gateway } from '../../functions/support/gateway.ts';
import { wrongFields, type Document } from './support/answer-check.ts';
import { fitting, nearly } from './support/draws.ts';

/** Draws of all operations together. */
const DRAWS = 20_000;

const DOCUMENT = openApi({ isSigned: false }) as unknown as Document;
const COMPONENTS = (DOCUMENT.components as { readonly schemas: Record<string, Record<string, unknown>> }).schemas;
const wrongIn = wrongFields(DOCUMENT);

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: Json;
  readonly example: Json;
  readonly explode?: boolean;
}

const DRIVER = '7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10';
/**
 * Parameters that mean something together, or by a definition that no schema knows, by operation: they are not drawn,
 * but
 * always have this value, or never come. Cursors are text to a caller.
 */
const NOT_DRAWN: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
  readShardLog: { after: '0', since: undefined },
  digestLog: { at: undefined, after: undefined, digest: undefined },
  queryIndex: {
    driver_uuid: DRIVER,
    conditions: undefined,
    fields: undefined,
    order: undefined,
    after: undefined,
    column: undefined,
  },
  countEntries: { driver_uuid: DRIVER, conditions: undefined },
  deleteIndex: { confirm: 'driver_index' },
  deleteTrigger: { confirm: 'bill_rider' },
  listParkedCells: { after: undefined },
  listForgotten: { after: undefined },
  listBufferConflicts: { after: undefined },
  listWritesInDoubt: { after: undefined },
};
const PATH: Readonly<Record<string, string>> = { index: 'driver_index', trigger: 'bill_rider', datastore: 'trips' };
/** Each target is a path. */
const WHOLE_BODIES_BEYOND = ['batchRead', 'batchQuery'];

const OF_FORM = ['invalid_field', 'missing_field', 'unknown_field', 'invalid_json'];

/** Operations of operators, which are asked by methods of their names. */
const ASKED_BY_NAME = Object.keys({
  ...TRIGGERS,
  ...MOVES,
  ...ERASURES,
  ...SUBJECTS,
  ...BUFFER_READS,
  ...BUFFER_CHANGES,
});

/** A request, which of its fields the document does not allow, and what it says where it allows all. */
interface Draw {
  readonly path: string;
  readonly body: string | undefined;
  readonly wrong: readonly string[];
  readonly says: Readonly<Record<string, unknown>>;
}

function drawsOf(route: Route): fc.Arbitrary<Draw> {
  const operation = DOCUMENT.paths[route.path]?.[route.method.toLowerCase()];
  if (operation === undefined) throw new Error(`${route.operation} is not in the document`);
  const parameters = operation.parameters as unknown as readonly Parameter[];
  const inPath = parameters.filter((one) => one.in === 'path');
  const fixed = NOT_DRAWN[route.operation] ?? {};
  const inQuery = parameters.filter((one) => one.in === 'query' && !Object.hasOwn(fixed, one.name));
  return fc
    .tuple(
      fc.tuple(...inPath.map((one) => pathText(one))),
      fc.tuple(...inQuery.map((one) => fc.option(queryText(one), { nil: undefined, freq: 3 }))),
      bodyOf(route),
      fc.constantFrom('', '', '', '', '', 'stranger'),
    )
    .map(([path, query, body, stranger]): Draw => {
      const asked = inQuery.flatMap((one, at) => (query[at] === undefined ? [] : [[one, query[at]] as const]));
      const given = [...inPath.map((one, at) => [one, path[at] ?? ''] as const), ...asked];
      const others = Object.entries(fixed).flatMap(([name, text]) =>
        text === undefined ? [] : [[name, text] as const],
      );
      // A parameter of any other name is a condition there.
      const odd = stranger === '' || route.where !== undefined ? [] : [[stranger, '1'] as const];
      const all = [...asked.map(([{ name }, text]) => [name, text] as const), ...others, ...odd].map(
        ([name, text]) => `${name}=${encodeURIComponent(text)}`,
      );
      const filled = inPath.reduce(
        (text, { name }, at) => text.replace(`{${name}}`, encodeURIComponent(path[at] ?? '')),
        route.path,
      );
      return {
        path: all.length === 0 ? filled : `${filled}?${all.join('&')}`,
        body: body.text,
        wrong: [
          ...odd.map(([name]) => name),
          ...given.flatMap(([{ name, schema }, text]) =>
            wrongIn(schema, valueOf(schema, text)).length === 0 ? [] : [name],
          ),
          ...body.wrong,
        ],
        says: {
          ...Object.fromEntries(given.map(([{ name, schema }, text]) => [name, asRead(schema, text)])),
          ...(body.text === undefined ? {} : Object(JSON.parse(body.text, inUtc))),
        },
      };
    });
}

const ODD_TEXTS = ['-1', '0', '1000000', '01', '1.0', '1e3', ' ', 'x', 'TRUE', '9007199254740992', 'ünï', '.'];

function pathText({ name, schema, example }: Parameter): fc.Arbitrary<string> {
  return fc.oneof(
    { arbitrary: fc.constant(PATH[name] ?? String(example)), weight: 6 },
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

/** Parses a parameter's text by its schema: digits alone become a number. */
function valueOf(schema: Json, text: string): Json {
  const whole = resolved(schema);
  if (whole['type'] === 'integer') return /^(?:0|[1-9]\d*)$/u.test(text) ? Number(text) : text;
  return whole['type'] === 'array' ? [text] : text;
}

/** Returns the value that an operation receives for a parameter's text. */
function asRead(schema: Json, text: string): unknown {
  return ['true', 'false'].includes(text) ? text === 'true' : valueOf(schema, text);
}

/** Times are handed on in UTC. */
const inUtc = (_name: string, value: unknown): unknown =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT/u.test(value) ? parseTime(value, '') : value;

function resolved(schema: Json): Readonly<Record<string, unknown>> {
  const { $ref } = schema as { readonly $ref?: string };
  return $ref === undefined
    ? (schema as Record<string, unknown>)
    : (COMPONENTS[$ref.split('/').at(-1) ?? ''] as Record<string, unknown>);
}

interface DrawnBody {
  readonly text: string | undefined;
  readonly wrong: readonly string[];
}

function bodyOf(route: Route): fc.Arbitrary<DrawnBody> {
  if (route.body === undefined) return fc.constant({ text: undefined, wrong: [] });
  const { operation, bodyExample } = route;
  if (WHOLE_BODIES_BEYOND.includes(operation)) return fc.constant({ text: JSON.stringify({ targets: [] }), wrong: [] });
  const schema = route.body.describe({}) as Json;
  const usual = bodyExample === undefined ? fc.constant<Json>({}) : fc.constant(bodyExample);
  const drawn = fitting(schema as Record<string, unknown>, COMPONENTS);
  const value = fc.oneof(
    usual,
    { arbitrary: drawn, weight: 3 },
    { arbitrary: nearly(drawn), weight: 3 },
    nearly(usual),
  );
  const given = value.map((json): DrawnBody => ({ text: JSON.stringify(json), wrong: wrongIn(schema, json) }));
  const none: DrawnBody = { text: undefined, wrong: route.mayLackBody === true ? [] : ['body'] };
  return fc.oneof({ arbitrary: given, weight: 20 }, fc.constant(none));
}

function isWithin(field: string, wrong: string): boolean {
  return wrong === 'body' || field === wrong || field.startsWith(`${wrong}.`) || field.startsWith(`${wrong}[`);
}

describe('the document and the server agree on what may be asked', () => {
  const asked: unknown[][] = [];
  let ask: ReturnType<typeof gateway>;
  beforeAll(() => {
    ask = gateway(fakeDeployment({}, [], asked));
  });

  it.each(ROUTES.map((route) => [route.operation, route] as const))('%s', async (_operation, route) => {
    const seen = { allowed: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(drawsOf(route), async ({ path, body, wrong, says }) => {
        asked.length = 0;
        const { status, json, operation } = await ask({ method: route.method, path, body });
        // A name in the path may lead to another route, as `versions` in place of a ref key does.
        fc.pre(operation === route.operation);
        const isRefused = (status === 400 || status === 422) && OF_FORM.includes(String(json['code']));
        seen[isRefused ? 'refused' : 'allowed'] += 1;
        expect({ path, body, isRefused, output: isRefused ? json['detail'] : status }).toEqual({
          path,
          body,
          isRefused: wrong.length > 0,
          output: expect.anything() as unknown,
        });
        if (isRefused) {
          expect(wrong).toSatisfy((all: readonly string[]) => all.some((one) => isWithin(String(json['field']), one)));
          for (const part of ['wanted', 'got']) expect(json[part]).toMatch(/./u);
          expect(asked).toEqual([]);
        } else if (status < 300 && ASKED_BY_NAME.includes(route.operation)) {
          const { datastore: _datastore, ...given } = says;
          expect(asked).toEqual([[route.operation, given]]);
        }
      }),
      // The document itself is long, and takes no parameter.
      { numRuns: route.operation === 'getOpenApi' ? 100 : Math.ceil(DRAWS / (ROUTES.length - 1)) },
    );
    expect(seen.allowed).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  });
});

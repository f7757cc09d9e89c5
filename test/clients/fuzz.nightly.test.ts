import * as fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { request as send } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { parseTarget } from '../../infra/local/gateway/http-event.ts';
import { routeTable } from '../../infra/local/gateway/route-table.ts';
import { MESSAGE_PACK } from '../../shared/api/message-pack.ts';
import { ROUTES, withHeads, type Route } from '../../shared/api/operations.ts';
import { readMessagePack } from '../../shared/body/read-message-pack.ts';
import type { Json } from '../../shared/cell.ts';
import { answerCheck, type Document } from '../shared/api/support/answer-check.ts';
import { fitting, nearly } from '../shared/api/support/draws.ts';
import { AT_ONCE } from '../support/side-by-side.ts';
import { wholeStack } from '../support/whole-stack.ts';
import { words } from '../support/words.ts';

/** How long requests are drawn, and the seed of the draws. */
const SECONDS = Number(process.env['FUZZ_SECONDS'] ?? 300);
const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now()); // Clock: another seed each time
const CHUNK = 200;
const MOST_SHOWN = 10;

const stack = wholeStack();

type Schema = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
  readonly example: Json;
}

interface Operation {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { readonly 'application/json': { readonly schema: Schema; readonly example?: Json } };
  };
}

interface Drawn {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Parts of paths that lead to something. */
const THERE: Readonly<Record<string, readonly string[]>> = {
  datastore: ['fuzzed'],
  row_key: [1, 2, 3].map((row) => `6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f${row}`),
  column_name: ['BASE', 'ORDER'],
  ref_key: ['0', '1', '2'],
  shard: ['0', '1', '3'],
  index: ['by_city'],
  trigger: ['bill_rider'],
};
const ODD = words('-1 01 1e3 x 9007199254740992 %FF %2525 %C3%BC * ..;');
const METHODS = words('GET PUT POST DELETE HEAD PATCH OPTIONS PURGE');

/** Requests of any operation of a document: most fit it, some nearly. */
function requestsOf(document: Document): fc.Arbitrary<Drawn> {
  const { schemas } = document.components as { readonly schemas: Readonly<Record<string, Schema>> };
  const drawn = (schema: Schema): fc.Arbitrary<Json> => fitting(schema, schemas);
  const textOf = (schema: Schema): fc.Arbitrary<string> =>
    drawn(schema).map((value) => encodeURIComponent([value].flat().map(String).join(',')));

  const inPath = ({ name, schema, example }: Parameter): fc.Arbitrary<string> =>
    fc.oneof(
      { arbitrary: fc.constantFrom(...(THERE[name] ?? [String(example)])), weight: 12 },
      // A slash makes another path, encoded or not.
      textOf(schema).filter((text) => !/^\.*$|%2F/u.test(text)),
      fc.constantFrom(...ODD),
    );
  const inQuery = ({ name, schema, required }: Parameter): fc.Arbitrary<string> => {
    const value =
      name === 'conditions'
        ? fc.constantFrom('city=Lisbon', 'city=Lisbon&city=Porto', 'city[gt]=A', 'city[in]=A', 'colour=red')
        : fc.oneof({ arbitrary: textOf(schema), weight: 8 }, fc.constantFrom(...ODD)).map((text) => `${name}=${text}`);
    return required ? fc.oneof({ arbitrary: value, weight: 9 }, fc.constant('')) : fc.oneof(value, fc.constant(''));
  };
  const bodyOf = ({ requestBody }: Operation): fc.Arbitrary<string | undefined> => {
    if (requestBody === undefined) return fc.constant(undefined);
    const { schema, example = {} } = requestBody.content['application/json'];
    // Rows that there are, so that writes conflict and reads find cells.
    const value = fc.oneof(fc.constant(example), drawn(schema), nearly(drawn(schema)), nearly(fc.constant(example)));
    const json = fc
      .tuple(value, fc.constantFrom(...(THERE['row_key'] ?? [])))
      .map(([given, row]) =>
        JSON.stringify(given, (name, member: unknown) =>
          name === 'row_key' && typeof member === 'string' ? row : member,
        ),
      );
    return fc.oneof({ arbitrary: json, weight: 20 }, fc.constantFrom(undefined, '', '{', '"\\ud800"', '[1,]'));
  };
  const headers = fc.record(
    {
      accept: fc.constantFrom(MESSAGE_PACK, '*/*'),
      'if-none-match': fc.constant('*'),
      'content-encoding': fc.constantFrom('identity', 'gzip'),
      'content-type': fc.constantFrom('application/json', 'text/plain'),
    },
    { requiredKeys: [] },
  );

  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { parameters, ...others } = operation as unknown as Operation;
      const [paths, queries] = (['path', 'query'] as const).map((place) =>
        parameters.filter((one) => one.in === place),
      );
      return fc
        .record({
          method: fc.oneof({ arbitrary: fc.constant(method.toUpperCase()), weight: 20 }, fc.constantFrom(...METHODS)),
          parts: fc.tuple(...(paths ?? []).map(inPath)),
          query: fc.tuple(...(queries ?? []).map(inQuery), fc.constantFrom('', '', '', '', '', 'stranger=1')),
          headers: fc.oneof({ arbitrary: fc.constant({}), weight: 4 }, headers),
          body: bodyOf({ parameters, ...others }),
        })
        .map(({ parts, query, ...request }): Drawn => {
          const filled = (paths ?? []).reduce((text, { name }, at) => text.replace(`{${name}}`, parts[at] ?? ''), path);
          const asked = query.filter((text) => text !== '').join('&');
          return { ...request, path: asked === '' ? filled : `${filled}?${asked}` };
        });
    }),
  );
  return fc.oneof(...operations);
}

const routes = routeTable<Route | undefined>([
  ...withHeads(ROUTES).map((route) => ({
    routeKey: `${route.method} ${route.path}`,
    target: ROUTES.find(({ operation }) => operation === route.operation),
  })),
  { routeKey: '$default', target: undefined },
]);

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
}

async function ask({ method, path, headers: given, body = '' }: Drawn, id: string): Promise<Answer> {
  // Node sends the body of a DELETE without its length.
  const headers = { ...given, 'content-length': Buffer.byteLength(body), 'x-request-id': id };
  const { hostname, port } = new URL(stack().url);
  return new Promise((resolve, reject) => {
    const asked = send({ hostname, port, method, path, headers }, (response) => {
      const { statusCode: status = 0, headers: answered } = response;
      buffer(response).then((bytes) => resolve({ status, headers: answered, bytes }), reject);
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

/** Returns what is wrong with an answer; nothing if the document allows it. */
function wrongIn(check: ReturnType<typeof answerCheck>, { method, path }: Drawn, answer: Answer): readonly string[] {
  const { status, headers, bytes } = answer;
  if (status >= 500 && status !== 503) return [`server error: ${bytes.toString()}`];
  const target = parseTarget(path);
  if (target === undefined) return status === 400 ? [] : [`a path of no UTF-8 is answered ${status}`];
  const route = routes.match(method, target.segments)?.target;
  if (route === undefined) return [404, 405].includes(status) ? [] : [`no route, but ${status}: ${bytes.toString()}`];
  if (method === 'HEAD') return bytes.length === 0 ? [] : ['HEAD with a body'];
  const isPacked = headers['content-type'] === MESSAGE_PACK;
  const json = bytes.length === 0 ? {} : isPacked ? readMessagePack(bytes) : JSON.parse(bytes.toString());
  return check({ operation: route.operation, status, headers, json });
}

it(
  'answers any request as its document says',
  async () => {
    const document = (await (await fetch(`${stack().url}/v1/openapi.json`)).json()) as Document;
    const check = answerCheck(document);
    const requests = requestsOf(document);
    const faults: unknown[] = [];
    const statuses = new Map<number, number>();
    const end = performance.now() + SECONDS * 1000; // Clock: the budget
    for (let chunk = 0; performance.now() < end && faults.length < MOST_SHOWN; chunk += 1) {
      const drawn = fc.sample(requests, { seed: SEED + chunk, numRuns: CHUNK }).values();
      const askAll = async (): Promise<void> => {
        for (const one of drawn) {
          const id = randomUUID();
          const answer = await ask(one, id);
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          const { 'x-request-id': answered = id } = answer.headers;
          const wrong = answered === id ? wrongIn(check, one, answer) : [`the id of another request: ${answered}`];
          if (wrong.length > 0) faults.push({ seed: SEED + chunk, ...one, status: answer.status, wrong });
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, askAll));
    }
    expect(faults.slice(0, MOST_SHOWN)).toEqual([]);
    // A busy machine may be late.
    const answers = statuses.values().reduce((sum, count) => sum + count, 0);
    expect(statuses.get(503) ?? 0).toBeLessThan(answers / 20);
    expect([200, 201, 304, 400, 404, 405, 409, 415].filter((status) => !statuses.has(status))).toEqual([]);
  },
  (SECONDS + 300) * 1000,
);

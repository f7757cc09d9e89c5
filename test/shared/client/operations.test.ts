import { describe, expect, expectTypeOf, it } from 'vitest';
import { readConditions } from '../../../shared/api/condition.ts';
import { ROUTES, type OperationName, type Route } from '../../../shared/api/operations.ts';
import { namesIn, PATH } from '../../../shared/api/path.ts';
import { apiClient, type ApiClient } from '../../../shared/client/api-client.ts';
import type { Json } from '../../../shared/cell.ts';
import { errorOf } from '../../support/datastore-conformance.ts';

type AnyApi = Readonly<Record<OperationName, (parameters: object) => Promise<unknown>>>;

/** A client of a server that answers with these, one after the other; `sent` has the requests. */
function answered(...answers: readonly Response[]) {
  const sent: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (input, { method, body } = {}) => {
    const answer = answers[sent.length];
    const { pathname, searchParams } = new URL(String(input));
    sent.push({ method, pathname, query: [...searchParams], body: body ? JSON.parse(String(body)) : undefined });
    return answer ?? Promise.reject(new Error('sent'));
  };
  return { api: apiClient({ url: 'http://gateway.test', datastore: 'trips', attempts: 2, fetch }), sent };
}

const api = (): ApiClient => answered().api;

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const reason = 'request 4711';
const BILL_RIDER = { trigger: 'bill_rider' };

/** Every parameter that an operation is declared with, as its example has it. */
function everyOption({ path, query = {}, where, whole, bodyExample = {} }: Route) {
  const options = Object.entries(query).map(([name, { example }]) => [name, example] as const);
  const conditions = Object.entries(where?.example ?? {}).map(([name, given]) => [name, [given].flat()] as const);
  return {
    path: Object.fromEntries(namesIn(path).map((name) => [name, PATH[name].example])),
    query: Object.fromEntries(options),
    ...(where && { where: readConditions(new Map(conditions)) }),
    body: whole ? { body: bodyExample } : (bodyExample as object),
    written: [
      ...conditions.flatMap(([name, values]) => values.map((value) => [name, value])),
      ...options.flatMap(([name, example]) =>
        [query[name]?.isJoined ? String(example) : example].flat().map((one) => [name, String(one)]),
      ),
    ],
  };
}

const CASES = ROUTES.flatMap((route) =>
  Object.entries(route.answers).map(([status, { example }]) => [route.operation, status, example, route] as const),
);

it.each(CASES)('%s is sent with every option, again where it was unavailable, and answered %s', async (...one) => {
  const [operation, status, example, route] = one;
  const { path, query, where, body, written } = everyOption(route);
  const { datastore: _own, ...parts } = path;
  const unavailable = Response.json({ code: 'unavailable', retry: 'later', detail: 'no node' }, { status: 503 });
  const { api, sent } = answered(unavailable, Response.json(example, { status: Number(status) }));
  const parameters = { ...parts, ...query, ...(where && { where }), ...body };
  expect(await (api as AnyApi)[operation](parameters)).toEqual(example);
  const request = {
    method: route.method,
    pathname: route.path.replaceAll(/\{(\w+)\}/gu, (_, name: keyof typeof path) => String(path[name])),
    query: written,
    body: route.bodyExample,
  };
  expect(sent).toEqual([request, request]);
});

it('each has the types of its declaration', () => {
  const { createMove, discardBufferConflicts } = api();
  expectTypeOf(createMove).parameter(0).toEqualTypeOf<{
    readonly shard: number;
    readonly to: string;
    readonly switch?: boolean | undefined;
    readonly complete_after_seconds?: number | undefined;
  }>();
  expectTypeOf(discardBufferConflicts).returns.resolves.toEqualTypeOf<{ readonly discarded: number }>();
});

describe('a value that JSON would change', () => {
  const put = (body: unknown): Promise<unknown> =>
    api().putCell({ row_key: ROW, column_name: 'BASE', ref_key: 1, body: body as Json });
  it.each<[string, unknown]>([
    ['NaN', { fare: NaN }],
    ['nothing', { a: undefined, b: 1 }],
    // oxlint-disable-next-line no-sparse-arrays -- that is what is tested
    ['a hole', [1, , 3]],
    ['a Date', new Date(0)],
    ['a Map', new Map()],
    ['bytes', new Uint8Array(2)],
  ])('is not put into a cell: %s', async (_what, body) => {
    expect(await errorOf(() => put(body))).toMatchObject({ code: 'invalid_field' });
    const cells = [{ row_key: ROW, column_name: 'BASE', ref_key: 1, body: body as Json }];
    expect(await errorOf(() => api().batchPut({ cells }))).toMatchObject({ code: 'invalid_field' });
  });

  it('does not widen an erasure', async () => {
    for (const column_name of [() => 'BASE', Symbol('BASE'), undefined])
      expect(await errorOf(() => api().eraseCells({ row_key: ROW, column_name, reason } as never))).toMatchObject({
        field: 'column_name',
      });
  });
});

it('an undefined `dry_run` is refused', async () => {
  const dry_run = undefined;
  for (const call of [
    () => api().rewindTrigger({ ...BILL_RIDER, to: 'start', dry_run }),
    () => api().deleteTrigger({ ...BILL_RIDER, confirm: 'bill_rider', dry_run }),
  ])
    expect(await errorOf(call)).toMatchObject({ code: 'missing_field', field: 'dry_run' });
});

describe('calls are refused', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a query', () => api().listErasures({ open: true, limits: 3 } as never)],
    [
      'a body that is one value',
      () => api().putCell({ row_key: ROW, column_name: 'BASE', ref_key: 1, body: 1, created_at: 'now' } as never),
    ],
  ])('with a parameter that is not known: %s', async (_what, call) => {
    expect(await errorOf(call)).toMatchObject({ code: 'unknown_field' });
  });

  it('with a member of a body that the server does not know, also where it is named as a datastore', async () => {
    const refused = () => Response.json({ code: 'unknown_field', retry: 'never', detail: 'no' }, { status: 400 });
    const { api, sent } = answered(refused(), refused());
    const erase = () => api.eraseCells({ datastore: 'billing', row_key: ROW, reason } as never);
    for (const call of [() => api.switchMove({ shard: 2, force: true } as never), erase])
      expect(await errorOf(call)).toMatchObject({ code: 'unknown_field' });
    expect(sent).toMatchObject([
      { pathname: '/v1/trips/moves/2/switch', body: { force: true } },
      { pathname: '/v1/trips/erasures', body: { datastore: 'billing', row_key: ROW, reason } },
    ]);
  });

  it.each(['..', '', 'a/b', 'bill_rider/parked'])('of the trigger %j', async (trigger) => {
    const { api, sent } = answered();
    for (const { operation } of ROUTES.filter(({ path }) => path.includes('{trigger}')))
      expect(await errorOf(() => (api as AnyApi)[operation]({ trigger }))).toMatchObject({
        code: 'unknown_trigger',
        field: 'trigger',
      });
    expect(sent).toEqual([]);
  });
});

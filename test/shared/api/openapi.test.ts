import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { MESSAGE_PACK } from '../../../shared/api/message-pack.ts';
import type { IndexStatus } from '../../../shared/api/indexes.ts';
import { itemError } from '../../../shared/api/item-error.ts';
import { openApi } from '../../../shared/api/openapi.ts';
import {
  DEFAULT_HANDLER,
  DEFINING_HANDLER,
  ROUTES,
  type OperationName,
  type Route,
} from '../../../shared/api/operations.ts';
import { PATH } from '../../../shared/api/path.ts';
import type { Cell, Json, PutResult, TransactionResult } from '../../../shared/cell.ts';
import { ERRORS, SchemalessError, type ErrorCode } from '../../../shared/errors.ts';
import { failingDeployment, fakeDeployment, SHARDS } from '../../functions/support/fake-deployment.ts';
import { PARKED, SUMMARY } from '../../functions/support/fake-triggers.ts';
import type { Definitions } from '../../../shared/definitions/definitions.ts';
import { WHILE_UNAVAILABLE, ERASED } from '../../functions/support/fake-erasures.ts';
import { MOVE } from '../../functions/support/fake-moves.ts';
import { gateway, type GatewayAnswer, type GatewayRequest } from '../../functions/support/gateway.ts';
import { words } from '../../support/words.ts';
import { answerCheck, operationsOf, schemaCheck, type Document } from './support/answer-check.ts';

const DOCUMENT = openApi({ isSigned: false }) as unknown as Document;
const OPERATIONS = operationsOf(DOCUMENT);
/** Codes that the fakes do not throw: a deployment that does stands in. */
const OF_STORE = words(`overloaded answer_too_large no_root_key undecodable_body fixed_definition still_defined
  managed_by_deployment would_discard_data unknown_shard unknown_index unknown_trigger
  move_refused`) as readonly ErrorCode[];
const MORE: Readonly<Partial<Record<ErrorCode, object>>> = {
  fixed_definition: {
    problems: [{ kind: 'index', datastore: 'a', name: 'b', field: 'c', wanted: 'd', got: 'e', reason: 'f' }],
  },
  would_discard_data: { lost: { messages: 1, parked: 0 } },
  move_refused: { shard: 2, step: 'copying', switches: 0 },
};
/** Codes of no operation: raised by the client, or without a route. */
const OF_NONE: readonly string[] = ['invalid_body', 'denied', 'unknown_route', 'method_not_allowed'];

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const SERVED = { served_by: 'reader', stale: true } as const;
const UNAVAILABLE = new SchemalessError('unavailable', 'group-1 does not answer', { more: { group: 'group-1' } });
const ADDRESS = { row_key: ROW, column_name: 'BASE', ref_key: 1 };
const DAMAGE = new SchemalessError('undecodable_body', 'cannot decode it', {
  address: ADDRESS,
  more: { shard: 0, added_id: 1 },
});
const CELL: Cell = { ...ADDRESS, body: null, added_id: 1, shard: 0, created_at: '2026-01-31T08:00:00.000000Z' };
const BUFFERED = { id: 'group-1/1', ...ADDRESS, body: 1, shard: 0, created_at: CELL.created_at };
const ERASURE = { id: ERASED.id, reason: ERASED.reason } as const;
const GONE = new SchemalessError('erased', 'it was erased', {
  address: ADDRESS,
  more: {
    cell: { ...CELL, body: null, erased: true },
    erasure: { id: ERASED.id, scope: ERASED.scope, reason: ERASED.reason, erased_at: CELL.created_at },
  },
});
const CELLS: readonly Cell[] = [
  { ...CELL, erased: true },
  { ...CELL, erased: true, body_sha256: 'ab'.repeat(32) },
  { ...CELL, error: DAMAGE },
  { ...CELL, body: { rider_name: null }, forgotten: ['rider_name'] },
];
const ERASURES: readonly Cell[] = [
  { ...CELL, erasure: { ...ERASURE, scope: 'versions' } },
  { ...CELL, column_name: '', ref_key: Number.MAX_SAFE_INTEGER, erasure: { ...ERASURE, scope: 'row' } },
];
const PUT_RESULTS: readonly PutResult[] = [
  { outcome: 'stored', shard: 0, added_id: 1 },
  { outcome: 'stored_before', shard: 0, added_id: 1, created_at: '2026-01-31T08:00:00.000000Z' },
  { outcome: 'conflict', shard: 0, added_id: 1 },
  { outcome: 'erased', shard: 0 },
  { outcome: 'subject_forgotten', shard: 0, field: 'cells[1].body.rider_uuid' },
  { outcome: 'buffered', shard: 0, copies: 1 },
  { outcome: 'unavailable', shard: 0, reason: 'no secondary was reached' },
];
const TRANSACTION_RESULTS: readonly TransactionResult[] = [
  { outcome: 'stored_before', shard: 0, added_ids: [1, 2] },
  { outcome: 'conflict', shard: 0, cells: [{ column_name: 'BASE', ref_key: 1 }] },
  {
    outcome: 'condition_failed',
    shard: 0,
    failed: [
      { column_name: 'BASE', wanted: null, latest: CELL },
      { column_name: 'NOTES', wanted: 1, latest: null },
    ],
  },
  { outcome: 'erased', shard: 0, cells: [{ column_name: 'BASE', ref_key: 1 }] },
  { outcome: 'subject_forgotten', shard: 0, field: 'cells[1].body.rider_uuid' },
  { outcome: 'buffered', shard: 0, copies: 1 },
  { outcome: 'unavailable', shard: 0, reason: 'no secondary was reached' },
];

const DOWN = { state: 'down', served_by: 'reader', milliseconds: 9, circuit: 'open', error: 'unreachable' } as const;
const BUILDING = new SchemalessError('index_building', 'driver_index is being built: 5 of 9 cells', {
  more: { index: 'driver_index', progress: { done: 5, total: 9 } },
});
const CHANGING: IndexStatus = {
  index: 'driver_index',
  table: 'driver_index_1a2b3c4d',
  state: 'changing',
  fields: [{ field: 'driver_uuid', type: 'UUID', column_key: 'BASE' }],
  keys: [['city', 'riders']],
  progress: { done: 5, total: 9 },
  lag: null,
  largest_share: null,
  mistyped: [{ field: 'driver_uuid', rows: 2, row_key: ROW, at: '2026-01-31T08:00:00.000Z' }],
};

const LONG = 'x'.repeat(1024 * 1024);
const manyCells = (...cells: readonly object[]): string => JSON.stringify({ cells });
const get = (path: string): GatewayRequest => ({ method: 'GET', path: `/v1/trips/${path}` });
const post = (path: string, body: string): GatewayRequest => ({ method: 'POST', path: `/v1/trips/${path}`, body });
const BY_DRIVER = 'driver_uuid=7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10';

/** Of operations whose examples name what the fakes lack: the end of the path, and the body. */
const OTHERWISE: Partial<Readonly<Record<OperationName, readonly [path: string, body?: object]>>> = {
  batchGet: ['batch-get', { keys: [ADDRESS, { row_key: ROW, column_name: 'NONE' }] }],
  batchRead: ['batch-read', { targets: [`cells/${ROW}/BASE`, `rows/${ROW}`, `cells/${ROW}/NONE`] }],
  batchQuery: ['batch-query', { targets: [`indexes/driver_index?${BY_DRIVER}`] }],
  readShardLog: ['shards/0/cells?after=0'],
  readLog: ['log', { locations: [0, 2].map((shard) => ({ shard, after: 0 })) }],
  queryIndex: [`indexes/driver_index?${BY_DRIVER}&city[in]=Lisbon`],
  countEntries: [`indexes/driver_index/count?${BY_DRIVER}&limit=5`],
  createMove: ['moves', { shard: 2, to: 'group-2', switch: true, complete_after_seconds: 0 }],
  deleteIndex: ['indexes/buyer_index?confirm=buyer_index'],
  deleteTrigger: ['triggers/confirm_order?confirm=confirm_order&dry_run=true'],
};

/** A good request of an operation: that of its examples, as a rule. */
function goodRequest({ operation, method, path, bodyExample, handler }: Route): GatewayRequest {
  const datastore = handler === 'define-datastores' ? 'shop' : 'trips';
  const [otherPath, body = bodyExample] = OTHERWISE[operation] ?? [];
  const named = path.replaceAll(/\{(\w+)\}/gu, (_, name: keyof typeof PATH) =>
    name === 'shard' ? '2' : name === 'datastore' ? datastore : String(PATH[name].example),
  );
  return {
    method,
    path: otherPath === undefined ? named : `/v1/${datastore}/${otherPath}`,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
}

async function askAll(): Promise<readonly GatewayAnswer[]> {
  const good = fakeDeployment({}, [
    {
      group: 'group-1',
      writer: { state: 'up', served_by: 'writer', milliseconds: 1, circuit: 'closed' },
      reader: DOWN,
    },
  ]);
  const ask = gateway(good);
  const odd = gateway(
    fakeDeployment({
      versions: async () => ({ cells: CELLS, next: 1, ...SERVED }),
      row: async () => ({ cells: CELLS, next: 'BASE', ...SERVED }),
      get: async () => ({ cell: { ...CELL, erased: true }, ...SERVED }),
      getLatest: async () => ({ cell: null, ...SERVED }),
      batchPut: async () => PUT_RESULTS,
      batchRestore: async () => PUT_RESULTS,
      batchGet: async () => [{ error: DAMAGE }, { error: UNAVAILABLE }],
      log: async () => [
        { shard: 0, cells: [...CELLS, ...ERASURES], next: 2, more: true, ...SERVED },
        { shard: 1, error: UNAVAILABLE },
      ],
      heads: async () => [{ shard: 0, group: 'group-1', error: UNAVAILABLE }],
      query: async () => ({
        entries: [
          {
            row_key: ROW,
            fields: { city: 'Lisbon', riders: 2n ** 62n, 'fare.total': null, is_completed: false },
            cells: CELLS,
          },
          { row_key: ROW, fields: {}, cells: { error: UNAVAILABLE } },
        ],
        next: 'abc',
        ...SERVED,
        explain: { shard: 0, group: 'group-1', statement: 'SELECT 1', plan: { query_block: { select_id: 1 } } },
      }),
      listIndexes: async () => ({ indexes: [CHANGING] }),
      listTriggers: async () => ({
        consumer_environment: { SCHEMALESS_DATASTORE: 'trips' },
        triggers: [
          {
            ...SUMMARY,
            state: 'stopped',
            reason: 'too many',
            changed_at: CELL.created_at,
            columns: '*',
            function: null,
            start: CELL.created_at,
            retry_parked_every_seconds: null,
            waiting: null,
            last_error: null,
            resent: { why: 'its queue was replaced', asked_at: CELL.created_at, done_at: null, least_generation: 0 },
          },
        ],
      }),
      listParkedCells: async () => ({
        cells: [{ ...PARKED, round: 2, retry: 'sent', retried_at: CELL.created_at }],
        malformed: [],
        next: '0:7',
      }),
      listMoves: async () => ({
        moves: [
          {
            ...MOVE,
            step: 'switching',
            wanted: 'switch',
            switches: 1,
            switched_at: MOVE.created_at,
            eta_seconds: null,
            digest: null,
            closed_ms: [41.5],
            complete_after_seconds: 60,
            last_error: 'group-2 does not answer',
          },
        ],
      }),
      getBuffer: async () => ({
        groups: [
          { group: 'group-1', rows: 2, oldest_age: 1.5, parked: 0, conflicts: 1, in_doubt: 2 },
          { group: 'group-2', error: itemError(UNAVAILABLE) },
        ],
      }),
      listBufferConflicts: async () => ({ conflicts: [BUFFERED], next: BUFFERED.id }),
      listWritesInDoubt: async () => ({ in_doubt: [BUFFERED], next: BUFFERED.id }),
    }),
  );
  const dead = gateway(fakeDeployment({}, [{ group: 'group-1', writer: DOWN, reader: DOWN }]));
  const broken = gateway(() => {
    throw new Error('no configuration');
  });
  const cut = gateway(failingDeployment(UNAVAILABLE));

  const answers: GatewayAnswer[] = [];
  const requests = ROUTES.map((route) => [route.operation, goodRequest(route)] as const);
  for (const [operation, request] of requests) {
    const { method, path, body } = request;
    answers.push(
      await ask(request),
      await ask(request),
      await ask({ ...request, headers: { accept: MESSAGE_PACK } }),
      await odd(request),
      await broken(request),
      await dead(request),
      await ask({ ...request, headers: { 'if-none-match': '*' } }),
      await ask({ ...request, path: path.replace(/trips|shop/u, '%2574rips') }),
    );
    for (const code of OF_STORE.filter((one) => codesOf(operation).includes(one)))
      answers.push(
        await gateway(failingDeployment(new SchemalessError(code, 'not now', { more: { ...MORE[code] } })))(request),
      );
    answers.push(await ask({ method, path: `${path}${path.includes('?') ? '&' : '?'}bogus=1`, body }));
    if (operation !== 'getOpenApi') answers.push(await cut(request));
    const others = (from: string, ...to: readonly unknown[]): readonly string[] =>
      path.includes(from) ? to.map((one) => path.replace(from, `${one}`)) : [];
    for (const other of [
      ...others('bill_rider', 'nope'),
      ...others('moves/2', 'moves/first', `moves/${SHARDS}`, 'moves/1', 'moves/3'),
      ...others(`erasures/${ERASED.id}`, 'erasures/first', `erasures/${ERASED.id.replace('b7', 'b8')}`),
      ...others('trips', 'nope'),
    ])
      answers.push(await ask({ method, path: other, body }));
    if (['PUT', 'POST'].includes(method))
      answers.push(
        await ask({ method, path, body: '{' }),
        await ask({ method, path, body: '[]' }),
        await ask({ method, path, body: '{}', headers: { 'content-encoding': 'gzip' } }),
        await ask({ method, path, body: undefined }),
        await ask({ method, path, body: ' '.repeat(4 * 1024 * 1024 + 1) }),
      );
  }
  for (const [, request] of requests.filter(([, { path }]) => /shop|definitions/u.test(path))) {
    answers.push(await ask({ ...request, path: request.path.replace('shop', 'nope') }));
    const slow = gateway({
      ...good,
      apply: async (desired: Definitions, dryRun: boolean) => ({ ...(await good.apply(desired, dryRun)), done: false }),
    });
    answers.push(await slow(request));
  }
  const put = { method: 'PUT', path: `/v1/trips/cells/${ROW}/BASE/1` };
  const getIndex = get('indexes/driver_index');
  const {
    queryIndex = getIndex,
    countEntries = getIndex,
    batchQuery = getIndex,
    transactRow = getIndex,
    restoreTransaction = getIndex,
  } = Object.fromEntries(requests);
  const packed = { headers: { accept: MESSAGE_PACK } };
  const unavailable = JSON.stringify({ row_key: ROW, column_name: WHILE_UNAVAILABLE, reason: 'request 4711' });
  for (const request of [
    { ...put, body: '"another"' },
    { ...put, body: `"${LONG}"` },
    post('batch-put', manyCells({ ...ADDRESS, body: LONG })),
    post('batch-restore', manyCells({ ...ADDRESS, body: LONG, created_at: CELL.created_at })),
    { method: 'POST', path: '/v1/definitions/apply', body: '{"files":{"shop/datastore.yaml":"x: 1"}}' },
    post('log', `{"locations":[{"shard":${SHARDS},"after":0}]}`),
    ...['shards/0/cells', 'shards/0/digest?after=1', `shards/${SHARDS}/digest`].map(get),
    ...['driver_index/count', 'nope/count'].map((path) => get(`indexes/${path}`)),
    ...['indexes/x', 'triggers/x'].map((path) => ({ method: 'DELETE', path: `/v1/shop/${path}` })),
    getIndex,
    { ...queryIndex, path: `${queryIndex.path}&column=BASE`, ...packed },
    { ...batchQuery, body: batchQuery.body?.toString().replace('driver_uuid', 'column=*&driver_uuid'), ...packed },
    get('indexes/driver_index?city=Lisbon'),
    get('indexes/nope'),
    ...['{"shard":2,"to":"group-1"}', `{"shard":${SHARDS},"to":"group-2"}`, '{"shard":2}'].map((body) =>
      post('moves', body),
    ),
    post('erasures', unavailable),
    post('erasures', unavailable.replace(ROW, 'x')),
    get('erasures?limit=0'),
    get('triggers/bill_rider?limit=0'),
    get('triggers/bill_rider/parked?limit=0'),
    get(`cells/${ROW}/BASE/9`),
    get(`shards/${SHARDS}/cells?after=0`),
  ])
    answers.push(await ask(request));
  const { body: ofTransaction = '', ...transact } = transactRow;
  const unconditional = JSON.stringify({ cells: JSON.parse(String(ofTransaction)).cells });
  answers.push(await ask({ ...transact, body: unconditional }));
  for (const body of [LONG, LONG.slice(1)])
    answers.push(await ask({ ...transact, body: manyCells({ column_name: 'BASE', ref_key: 1, body }) }));
  const ofLong = { column_name: 'BASE', ref_key: 1, body: LONG.slice(1), created_at: CELL.created_at };
  answers.push(await ask({ ...restoreTransaction, body: manyCells(ofLong) }));
  for (const result of TRANSACTION_RESULTS)
    for (const request of [{ ...transact, body: unconditional }, restoreTransaction])
      if (request !== restoreTransaction || !['buffered', 'condition_failed'].includes(result.outcome))
        answers.push(await gateway(fakeDeployment({ transact: async () => result }))(request));
  for (const result of PUT_RESULTS)
    answers.push(await gateway(fakeDeployment({ put: async () => result }))({ ...put, body: '1' }));
  const starting = new SchemalessError('index_building', 'it is being built', {
    more: { index: 'driver_index', progress: null },
  });
  for (const error of [BUILDING, starting])
    for (const request of [queryIndex, countEntries])
      answers.push(
        await gateway(fakeDeployment({ query: () => Promise.reject(error), count: () => Promise.reject(error) }))(
          request,
        ),
      );
  const gone = gateway(fakeDeployment({ get: () => Promise.reject(GONE), getLatest: () => Promise.reject(GONE) }));
  for (const path of [`cells/${ROW}/BASE/1`, `cells/${ROW}/BASE`]) answers.push(await gone(get(path)));
  const damaged = gateway(fakeDeployment({ get: () => Promise.reject(DAMAGE) }));
  answers.push(await damaged(get(`cells/${ROW}/BASE/1`)));
  return answers;
}

/** The documented codes of an operation. */
function codesOf(operation: string): readonly string[] {
  const { responses = {} } = OPERATIONS.find(({ operationId }) => operationId === operation) ?? {};
  return Object.values(responses).flatMap(({ content }) => {
    const problem = Object(content)['application/problem+json'] as { readonly schema: Json } | undefined;
    return Object(problem?.schema).allOf?.[1].properties.code.enum ?? [];
  });
}

/** The codes that functions and all that they import throw. */
function thrownBy(...functions: readonly string[]): ReadonlySet<string> {
  const modules = new Set(functions.map((name) => join(PROJECT_ROOT, `functions/${name}.ts`)));
  const codes = new Set<string>();
  for (const one of modules) {
    if (!existsSync(one)) continue;
    const text = readFileSync(one, 'utf8');
    for (const [, path = ''] of text.matchAll(/(?:^import (?!type)[^;]*?from |import\()'(\.[^']+)'/gmu))
      modules.add(join(dirname(one), path));
    for (const [, name] of text.matchAll(/\b(invalid|missing|unknown|wrong)Field\(/gu))
      codes.add(name === 'wrong' ? 'invalid_field' : `${name}_field`);
    for (const [, code = ''] of text.matchAll(/(?:SchemalessError\(\s*|wrongField\([^;]*, )['`]([\w${}]+)['`]/gu))
      for (const kind of ['index', 'trigger']) codes.add(code.replace('${kind}', kind));
  }
  return codes;
}

describe('the OpenAPI document', () => {
  let answers: readonly GatewayAnswer[] = [];
  beforeAll(async () => {
    answers = await askAll();
  });

  it('describes every route, once', () => {
    expect(OPERATIONS.map(({ operationId }) => operationId).sort()).toEqual(
      ROUTES.map(({ operation }) => operation).sort(),
    );
  });

  it('fits every answer that is given, and each carries its request id', () => {
    expect(answers.flatMap(answerCheck(DOCUMENT))).toEqual([]);
    expect(answers.filter(({ headers }) => !/^request-\d+$/.test(String(headers['x-request-id'])))).toEqual([]);
    const problems = answers.filter(({ headers }) => headers['content-type'] === 'application/problem+json');
    expect(problems.filter(({ headers, json }) => headers['x-request-id'] !== json['request_id'])).toEqual([]);
  });

  it('names no status and no code that never comes', () => {
    const documented = OPERATIONS.flatMap(({ operationId, responses }) =>
      [...Object.keys(responses).filter((status) => Number(status) < 400), ...codesOf(operationId)].map(
        (what) => `${operationId} ${what}`,
      ),
    );
    const came = answers.map(({ operation, status, json }) => `${operation} ${status < 400 ? status : json['code']}`);
    // A node that is down is an answer.
    expect([...new Set(came)].filter((one) => one !== 'getHealth undefined').sort()).toEqual(documented.sort());
  });

  it('names a code only if the modules of its function throw it, and each code somewhere', () => {
    for (const [handler, routes] of Map.groupBy(ROUTES, ({ handler }) => handler)) {
      // An environment without that function has the other one answer.
      const thrown = handler === DEFINING_HANDLER ? thrownBy(handler, DEFAULT_HANDLER) : thrownBy(handler);
      const documented = routes.flatMap(({ operation }) => codesOf(operation));
      expect([handler, documented.filter((code) => !thrown.has(code))]).toEqual([handler, []]);
    }
    const all = new Set(ROUTES.flatMap(({ operation }) => codesOf(operation)));
    expect(Object.keys(ERRORS).filter((code) => !all.has(code))).toEqual(expect.arrayContaining([...OF_NONE]));
    expect(OF_NONE).toHaveLength(Object.keys(ERRORS).length - all.size);
  });

  it('names MessagePack where it can come, and nowhere else', () => {
    const documented = OPERATIONS.filter(({ responses }) => MESSAGE_PACK in (responses['200']?.content ?? {}));
    const packed = answers.filter(({ headers }) => headers['content-type'] === MESSAGE_PACK);
    expect([...new Set(packed.map(({ operation }) => operation))].sort()).toEqual(
      documented.map(({ operationId }) => operationId).sort(),
    );
  });

  it('is not fitted by answers that are wrong', () => {
    const check = answerCheck(DOCUMENT);
    const right = answers.find(({ operation, status }) => operation === 'getCell' && status === 200);
    const problem = answers.find(({ operation, status }) => operation === 'getCell' && status === 404);
    if (right === undefined || problem === undefined) throw new Error('no answers');
    const { stale: _stale, ...less } = right.json;
    for (const wrong of [
      { ...right, json: less },
      { ...right, json: { ...right.json, secret: 1 } },
      { ...right, json: { ...right.json, created_at: 'yesterday' } },
      { ...right, status: 418 },
      { ...right, headers: { 'content-type': 'text/html' } },
      { ...problem, json: { ...problem.json, code: 'conflict' } },
    ])
      expect(check(wrong)).toHaveLength(1);
  });

  it('has examples that fit their schemas', () => {
    const check = schemaCheck(DOCUMENT);
    const examples = OPERATIONS.flatMap(({ operationId, parameters, requestBody, responses }) => [
      ...parameters.map(({ name, schema, example }) => ({ place: `${operationId} ${name}`, schema, example })),
      ...[...(requestBody === undefined ? [] : [requestBody]), ...Object.values(responses)]
        .flatMap(({ content }) => Object.values(content ?? {}))
        .map(({ schema, example }) => ({ place: operationId, schema, example })),
    ]);
    expect(examples.length).toBeGreaterThan(100);
    expect(
      examples
        .filter(({ example }) => example !== undefined)
        .flatMap(({ place, schema, example }) => check(schema, example).map((error) => `${place}: ${error}`)),
    ).toEqual([]);
  });

  it('asks for signatures where requests are signed, and only there', () => {
    const unsigned = DOCUMENT as unknown as Readonly<Record<string, unknown>>;
    expect(unsigned).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' }, security: [] });
    expect(unsigned['components']).not.toHaveProperty('securitySchemes');
    const signed = openApi({ isSigned: true }) as Readonly<Record<string, unknown>>;
    expect(signed).toMatchObject({
      security: [{ iam: [] }],
      components: { securitySchemes: { iam: { name: 'Authorization' } } },
    });
    expect({ ...signed, security: [], components: unsigned['components'] }).toEqual(unsigned);
  });
});

import { beforeAll, describe, expect, it } from 'vitest';
import { MESSAGE_PACK } from '../../../shared/api/message-pack.ts';
import type { IndexStatus } from '../../../shared/api/indexes.ts';
import { itemError } from '../../../shared/api/item-error.ts';
import { openApi } from '../../../shared/api/openapi.ts';
import { ROUTES } from '../../../shared/api/operations.ts';
import type { Cell, PutResult } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { failingDeployment, fakeDeployment, SHARDS } from '../../functions/support/fake-deployment.ts';
import { PARKED, SUMMARY } from '../../functions/support/fake-triggers.ts';
import type { Definitions } from '../../../shared/definitions/definitions.ts';
import { fakeDefinitions } from '../../functions/support/fake-definitions.ts';
import { AWAY, ERASED, ERASING } from '../../functions/support/fake-erasures.ts';
import { MOVE } from '../../functions/support/fake-moves.ts';
import { gateway, type GatewayAnswer, type GatewayRequest } from '../../functions/support/gateway.ts';
import { answerCheck, operationsOf, schemaCheck, type Document } from './support/answer-check.ts';

const DOCUMENT = openApi({ isSigned: false }) as unknown as Document;
const OPERATIONS = operationsOf(DOCUMENT);
/** Answered by the gateway, before any function runs. */
const OF_GATEWAY = ['403', '429', '504'];

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

const get = (path: string): GatewayRequest => ({ method: 'GET', path: `/v1/trips/${path}` });
const post = (path: string, body?: object): GatewayRequest => ({
  method: 'POST',
  path: `/v1/trips/${path}`,
  ...(body && { body: JSON.stringify(body) }),
});

/** One good request for each operation. */
const REQUESTS: Readonly<Record<string, GatewayRequest>> = {
  putCell: { method: 'PUT', path: `/v1/trips/cells/${ROW}/BASE/1`, body: '{"city":"Lisbon"}' },
  getCell: get(`cells/${ROW}/BASE/1`),
  getLatestCell: get(`cells/${ROW}/BASE`),
  listVersions: get(`cells/${ROW}/BASE/versions`),
  getRow: get(`rows/${ROW}`),
  batchPut: post('batch-put', { cells: [{ ...ADDRESS, body: 1 }] }),
  batchRestore: post('batch-restore', { cells: [{ ...ADDRESS, body: 1, created_at: '2020-01-31T08:00:00Z' }] }),
  batchGet: post('batch-get', { keys: [ADDRESS, { row_key: ROW, column_name: 'NONE' }] }),
  batchRead: post('batch-read', { targets: [`cells/${ROW}/BASE`, `rows/${ROW}`, `cells/${ROW}/NONE`] }),
  batchQuery: post('batch-query', {
    targets: ['indexes/driver_index?driver_uuid=7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10'],
  }),
  readShardLog: get('shards/0/cells?after=0'),
  digestLog: get('shards/0/digest?at=2'),
  readLog: post('log', {
    locations: [
      { shard: 0, after: 0 },
      { shard: 2, after: 0 },
    ],
  }),
  listShards: get('shards'),
  listIndexes: get('indexes'),
  queryIndex: get('indexes/driver_index?driver_uuid=7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10&city[in]=Lisbon'),
  countEntries: get('indexes/driver_index/count?driver_uuid=7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10&limit=5'),
  listTriggers: get('triggers'),
  getTrigger: get('triggers/bill_rider?limit=2&after=0'),
  pauseTrigger: post('triggers/bill_rider/pause', { reason: 'the card service is down' }),
  resumeTrigger: post('triggers/bill_rider/resume'),
  rewindTrigger: post('triggers/bill_rider/rewind', { to: { 0: 14 } }),
  listParkedCells: get('triggers/bill_rider/parked'),
  retryParkedCells: post('triggers/bill_rider/parked/retry', { cells: '*' }),
  discardParkedCells: post('triggers/bill_rider/parked/discard', { cells: [{ shard: 0, added_id: 7 }] }),
  listDeadMessages: get('triggers/bill_rider/dead?limit=2'),
  replayDeadMessages: post('triggers/bill_rider/dead/replay'),
  discardDeadMessages: post('triggers/bill_rider/dead/discard'),
  listMoves: get('moves'),
  createMove: post('moves', { shard: 2, to: 'group-2', switch: true, complete_after_seconds: 0 }),
  getMove: get('moves/2'),
  switchMove: post('moves/2/switch'),
  reverseMove: post('moves/2/reverse'),
  completeMove: post('moves/2/complete'),
  cancelMove: post('moves/2/cancel'),
  verifyMove: post('moves/2/verify'),
  eraseCells: post('erasures', { row_key: ROW, column_name: 'BASE', up_to: 3, reason: 'request 4711' }),
  listErasures: get(`erasures?open=false&limit=1&after=${ERASING.id}`),
  getErasure: get(`erasures/${ERASED.id}`),
  getRetention: get('retention'),
  forgetSubject: post('subjects/forget', { subject: ROW, reason: 'request 4711' }),
  listForgotten: get('erasures/subjects?limit=1'),
  getBuffer: get('buffer'),
  listBufferConflicts: get('buffer/conflicts'),
  listUndecidedWrites: get('buffer/undecided'),
  keepUndecidedWrites: post('buffer/undecided/keep', { ids: ['group-1/1'] }),
  discardBufferConflicts: post('buffer/conflicts/discard', { ids: ['group-1/1'] }),
  applyDefinitions: {
    method: 'POST',
    path: '/v1/definitions/apply',
    body: '{"files":{"shop/datastore.yaml":"datastore: shop\\nshards: 16"}}',
  },
  deleteIndex: { method: 'DELETE', path: '/v1/shop/indexes/buyer_index?confirm=buyer_index' },
  deleteTrigger: { method: 'DELETE', path: '/v1/shop/triggers/confirm_order?confirm=confirm_order&dry_run=true' },
  getHealth: { method: 'GET', path: '/v1/health' },
  getOpenApi: { method: 'GET', path: '/v1/openapi.json' },
};

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
        next: '0/7',
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
          { group: 'group-1', rows: 2, oldest_age: 1.5, parked: 0, conflicts: 1, undecided: 2 },
          { group: 'group-2', error: itemError(UNAVAILABLE) },
        ],
      }),
      listBufferConflicts: async () => ({ conflicts: [BUFFERED], next: BUFFERED.id }),
      listUndecidedWrites: async () => ({ undecided: [BUFFERED], next: BUFFERED.id }),
    }),
  );
  const dead = gateway(fakeDeployment({}, [{ group: 'group-1', writer: DOWN, reader: DOWN }]));
  const broken = gateway(() => {
    throw new Error('no configuration');
  });
  const cut = gateway(failingDeployment(UNAVAILABLE));

  const answers: GatewayAnswer[] = [];
  const requests = Object.entries(REQUESTS);
  for (const [operation, request] of requests) {
    const { method, path, body } = request;
    answers.push(
      await ask(request),
      await ask(request),
      await ask({ ...request, headers: { accept: MESSAGE_PACK } }),
      await odd(request),
      await broken(request),
      await dead(request),
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
    if (['PUT', 'POST'].includes(method)) {
      answers.push(
        await ask({ method, path, body: '{' }),
        await ask({ method, path, body: undefined }),
        await ask({ method, path, body: ' '.repeat(4 * 1024 * 1024 + 1) }),
      );
    }
  }
  for (const [operation, request] of requests.filter(([, { path }]) => /shop|definitions/u.test(path))) {
    const code = operation === 'applyDefinitions' ? 'fixed_definition' : 'still_defined';
    for (const error of [new SchemalessError(code, 'not now'), new SchemalessError('goes_by_deploy', 'not here')])
      answers.push(await gateway(failingDeployment(error))(request));
    answers.push(await ask({ ...request, path: request.path.replace('shop', 'nope') }));
    const { apply } = fakeDefinitions();
    const slow = gateway({
      ...good,
      apply: async (wished: Definitions, dryRun: boolean) => ({ ...(await apply(wished, dryRun)), done: false }),
    });
    answers.push(await slow(request));
  }
  const put = { method: 'PUT', path: `/v1/trips/cells/${ROW}/BASE/1` };
  const getIndex = get('indexes/driver_index');
  const { queryIndex = getIndex, batchQuery = getIndex } = REQUESTS;
  const packed = { headers: { accept: MESSAGE_PACK } };
  const away = JSON.stringify({ row_key: ROW, column_name: AWAY, reason: 'request 4711' });
  const text = (method: string, path: string, body: string): GatewayRequest => ({
    method,
    path: `/v1/trips/${path}`,
    body,
  });
  for (const request of [
    { ...put, body: '"another"' },
    { ...put, body: `"${'x'.repeat(1024 * 1024)}"` },
    getIndex,
    { ...queryIndex, path: `${queryIndex.path}&column=BASE`, ...packed },
    { ...batchQuery, body: batchQuery.body?.toString().replace('driver_uuid', 'column=*&driver_uuid'), ...packed },
    get('indexes/driver_index?city=Lisbon'),
    get('indexes/nope'),
    ...['{"shard":2,"to":"group-1"}', `{"shard":${SHARDS},"to":"group-2"}`, '{"shard":2}'].map((body) =>
      text('POST', 'moves', body),
    ),
    text('POST', 'erasures', away),
    text('POST', 'erasures', away.replace(ROW, 'x')),
    get('erasures?limit=0'),
    get('triggers/bill_rider?limit=0'),
    get('triggers/bill_rider/parked?limit=0'),
    get(`cells/${ROW}/BASE/9`),
    get(`shards/${SHARDS}/cells?after=0`),
  ])
    answers.push(await ask(request));
  for (const result of PUT_RESULTS)
    answers.push(await gateway(fakeDeployment({ put: async () => result }))({ ...put, body: '1' }));
  const starting = new SchemalessError('index_building', 'it is being built', {
    more: { index: 'driver_index', progress: null },
  });
  for (const error of [BUILDING, starting])
    answers.push(await gateway(fakeDeployment({ query: () => Promise.reject(error) }))(queryIndex));
  const gone = gateway(fakeDeployment({ get: () => Promise.reject(GONE), getLatest: () => Promise.reject(GONE) }));
  for (const path of [`cells/${ROW}/BASE/1`, `cells/${ROW}/BASE`]) answers.push(await gone(get(path)));
  const damaged = gateway(fakeDeployment({ get: () => Promise.reject(DAMAGE) }));
  answers.push(await damaged(get(`cells/${ROW}/BASE/1`)));
  return answers;
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
    const check = answerCheck(DOCUMENT);
    expect(answers.flatMap(check)).toEqual([]);
    expect(answers.filter(({ headers }) => !/^request-\d+$/.test(String(headers['x-request-id'])))).toEqual([]);
    const problems = answers.filter(({ headers }) => headers['content-type'] === 'application/problem+json');
    expect(problems.filter(({ headers, json }) => headers['x-request-id'] !== json['request_id'])).toEqual([]);
  });

  it('names no status that never comes', () => {
    const documented = OPERATIONS.flatMap(({ operationId, responses }) =>
      Object.keys(responses)
        .filter((status) => !OF_GATEWAY.includes(status))
        .map((status) => `${operationId} ${status}`),
    );
    const came = answers.filter(({ status }) => !OF_GATEWAY.includes(String(status)));
    expect([...new Set(came.map(({ operation, status }) => `${operation} ${status}`))].sort()).toEqual(
      documented.sort(),
    );
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
        .flatMap(({ content }) => Object.values(content))
        .map(({ schema, example }) => ({ place: operationId, schema, example })),
    ]);
    expect(examples.length).toBeGreaterThan(100);
    expect(
      examples
        .filter(({ example }) => example !== undefined)
        .flatMap(({ place, schema, example }) => check(schema, example).map((error) => `${place}: ${error}`)),
    ).toEqual([]);
  });

  it('is what the API answers', async () => {
    const { json } = await gateway(fakeDeployment())({ method: 'GET', path: '/v1/openapi.json' });
    expect(json).toEqual(DOCUMENT);
    expect(json).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } });
  });

  it('asks for signatures where requests are signed, and only there', async () => {
    const request = { method: 'GET', path: '/v1/openapi.json' };
    const unsigned = (await gateway(fakeDeployment())(request)).json;
    expect(unsigned['security']).toEqual([]);
    expect(unsigned['components']).not.toHaveProperty('securitySchemes');
    const signed = (await gateway(fakeDeployment())({ ...request, signedBy: 'somebody' })).json;
    expect(signed).toMatchObject({
      security: [{ iam: [] }],
      components: { securitySchemes: { iam: { name: 'Authorization' } } },
    });
    expect({ ...signed, security: [], components: unsigned['components'] }).toEqual(unsigned);
  });
});

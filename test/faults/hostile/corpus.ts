import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import { BODIES, LARGE_BODIES } from './hostile-bodies.ts';
import { COLUMN_NAMES, NO_COLUMN_NAMES, NO_COUNTS, NO_PARAMETERS, NO_ROW_KEYS } from './hostile-names.ts';
import type { HostileRequest } from './send.ts';
import { words } from './words.ts';

const V1 = '/v1/trips';
const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const JSON_TYPE = { 'content-type': 'application/json' };

const get = (what: string, target: string, wants?: HostileRequest['wants']): HostileRequest => ({
  what,
  method: 'GET',
  target,
  ...(wants && { wants }),
});
const sent =
  (method: 'PUT' | 'POST') =>
  (what: string, target: string, body: string | Buffer, wants?: HostileRequest['wants']): HostileRequest => ({
    what,
    method,
    target,
    headers: JSON_TYPE,
    body: Buffer.from(body),
    ...(wants && { wants }),
  });
const [put, post] = [sent('PUT'), sent('POST')];
/** Returns this many items, each made from its position. */
const many = <Item>(length: number, one: (position: number) => Item): Item[] =>
  Array.from({ length }, (_, position) => one(position));

/** Returns one request of each kind, to be sent in order: some build on those before them. */
export function corpus(seed: string): readonly HostileRequest[] {
  const random = new Random(seed, 'corpus', 0);
  const row = (): string => randomRowKey(random);
  return [...bodies(row), ...names(row), ...paths(row), ...queries(), ...batches(row), ...headers(row), ...wires(row)];
}

function bodies(row: () => string): readonly HostileRequest[] {
  return [...BODIES, ...LARGE_BODIES].map(({ what, bytes, wants }) =>
    put(what, `${V1}/cells/${row()}/BASE/1`, bytes, wants),
  );
}

/**
 * Writes each name, writes it again, and writes it with another body: the server's answer to the duplicate quotes it.
 */
function names(row: () => string): readonly HostileRequest[] {
  const batch = (row_key: string, column_name: string, body: unknown): string =>
    JSON.stringify({ cells: [{ row_key, column_name, ref_key: 1, body }] });
  return [
    ...COLUMN_NAMES.flatMap((name) => {
      const [key, what] = [row(), `the column ${JSON.stringify(name.slice(0, 30))}`];
      return [
        post(what, `${V1}/batch-put`, batch(key, name, { name }), 'stored'),
        post(`${what} again`, `${V1}/batch-put`, batch(key, name, { name }), 'stored_before'),
        post(`${what} with another body`, `${V1}/batch-put`, batch(key, name, { other: name }), 'differs'),
        get(`${what} in a row`, `${V1}/rows/${key}?column=${encodeURIComponent(name)}`, 'answered'),
        get(`${what} in a path`, `${V1}/cells/${key}/${encodeURIComponent(name)}/1`),
      ];
    }),
    ...NO_COLUMN_NAMES.map((name) =>
      post(
        `no column name: ${name.slice(0, 30)}`,
        `${V1}/batch-put`,
        `{"cells":[{"row_key":"${row()}","column_name":${name},"ref_key":1,"body":1}]}`,
        'invalid_field',
      ),
    ),
    post(
      'a lone surrogate as a column name',
      `${V1}/batch-put`,
      `{"cells":[{"row_key":"${row()}","column_name":"\\ud800","ref_key":1,"body":1}]}`,
      'invalid_json',
    ),
  ];
}

function paths(row: () => string): readonly HostileRequest[] {
  const at = (what: string, target: string, wants?: HostileRequest['wants']): HostileRequest =>
    put(what, target, '1', wants);
  return [
    ...NO_ROW_KEYS.flatMap((key) => [
      at(`the row key ${key}`, `${V1}/cells/${key}/BASE/1`),
      get(`the row ${key}`, `${V1}/rows/${key}`),
    ]),
    ...NO_COUNTS.flatMap((count) => [
      at(`the ref key ${count.slice(0, 30)}`, `${V1}/cells/${row()}/BASE/${count}`, 'invalid_field'),
      get(`the shard ${count.slice(0, 30)}`, `${V1}/shards/${count}/cells?after=0`),
    ]),
    at('a row key in upper case', `${V1}/cells/${row().toUpperCase()}/BASE/1`, 'stored'),
    at('the largest ref key', `${V1}/cells/${row()}/BASE/9007199254740991`, 'stored'),
    ...words(
      "A%2FB %2E%2E %252e%252e %2500 %00 A%00 %C0%AF %ff % 'cell' %60 %5C 😀",
      'A'.repeat(256),
      '{column_name} * A;B A+B',
    ).map((name) =>
      at(`the column ${name.slice(0, 20)} in a path`, `${V1}/cells/${row()}/${encodeURI(decodeURISafe(name))}/1`),
    ),
    ...words(
      '/ // /v1 /v1/ /v2/trips/shards /v1/../v1/trips/shards /v1/%2e%2e/v1/trips/shards /v1/trips/../../etc/passwd',
      `/v1//trips//shards ${V1}/shards/ ${V1}/shards/0 ${V1}/%73hards /v1/%74rips/shards /v1/__proto__/shards`,
      '/v1/constructor/shards /v1/trips%00/shards /v1/schemaless/shards /v1/mysql/shards /v1/TRIPS/shards',
      `/v1/${'a'.repeat(6000)}/shards`,
      `${V1}/indexes/__proto__ ${V1}/indexes/constructor?a=1 ${V1}/indexes/%00 ${V1}/triggers/__proto__`,
      `${V1}/triggers/toString ${V1}/triggers/..%2f.. /v1/health?x=1 /v1/openapi.json?x=1`,
      `${V1}/moves/__proto__ ${V1}/moves/-1 ${V1}/moves/%00 ${V1}/moves/1e3 ${V1}/moves/99999 ${V1}/moves?limit=1`,
      '/v1/%7Bdatastore%7D/shards /favicon.ico /v1/trips/cells',
      `/${'../'.repeat(500)}`,
      `/${'a/'.repeat(2000)}`,
    ).map((target) => get(`the path ${target.slice(0, 40)}`, target)),
    ...words('HEAD OPTIONS DELETE PATCH POST TRACE PROPFIND M-SEARCH PURGE').map((method): HostileRequest => ({
      what: `the method ${method}`,
      method,
      target: `${V1}/cells/${ROW}/BASE/1`,
    })),
  ];
}

/** `%` alone cannot be decoded. */
function decodeURISafe(text: string): string {
  return text.includes('%') ? text.replaceAll('%', '%25') : text;
}

function queries(): readonly HostileRequest[] {
  const driver = `driver_uuid=${ROW}`;
  const index = `${V1}/indexes/driver_index`;
  const lists = [
    `${V1}/cells/${ROW}/BASE/versions`,
    `${V1}/rows/${ROW}`,
    `${V1}/shards/0/cells`,
    index,
    `${V1}/buffer/conflicts`,
    `${V1}/triggers/watch_notes`,
    `${V1}/triggers/watch_notes/parked`,
  ];
  return [
    ...lists.flatMap((target) => [
      ...['limit', 'after', 'min_added_id'].flatMap((name) =>
        NO_COUNTS.map((count) => get(`${name}=${count.slice(0, 30)}`, `${target}?${name}=${count}`)),
      ),
      ...NO_PARAMETERS.map((parameter) => get(`?${parameter.slice(0, 30)}`, `${target}?${parameter}`)),
    ]),
    ...words('[eq] [foo] [ ] [gt][lt] [gt]x [] [in] [__proto__] [constructor] %5Bne%5D [GT] [gt]%00').map((operator) =>
      get(`the operator ${operator}`, `${index}?${driver}&riders${operator}=1`),
    ),
    ...words(
      'riders=1.5 riders=9223372036854775808 riders[gt]=1e5 city=%00',
      `city=${'x'.repeat(300)}`,
      'city=%ed%a0%80 created_at=yesterday created_at[gt]=2026-02-30T00:00:00Z fare.total=1e999 fare.total[lt]=NaN',
      'is_completed=1 driver_uuid=x driver_uuid[in]=x __proto__=1 fare=1 fields= fields=, fields=__proto__ fields=*',
      'order= order=- order=--city order=city,riders order=city%20DESC column=*&column=BASE',
      `column=${'a'.repeat(256)}`,
      'explain=yes read=reader;',
      Array.from({ length: 101 }, (_, value) => `riders[in]=${value}`).join('&'),
    ).map((condition) => get(`the condition ${condition.slice(0, 40)}`, `${index}?${driver}&${condition}`)),
    ...[
      '',
      ...words('abc null %00 e30 W10 WzEsMiwzXQ WzEsMiwzXQ=='),
      Buffer.from('[{"integer":"1"},"6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0","AAAAAAAAAAAA"]').toString('base64url'),
      Buffer.from('['.repeat(2000)).toString('base64url'),
      'A'.repeat(4000),
    ].map((cursor) => get(`the cursor ${cursor.slice(0, 20)}`, `${index}?${driver}&after=${cursor}`, 'invalid_field')),
    ...words(
      '2026-01-31 2026-01-31T08:00:00 2026-02-30T08:00:00Z 0000-00-00T00:00:00Z -000001-01-01T00:00:00Z',
      '+275760-09-13T00:00:00Z 2026-01-31T24:00:00Z 2026-01-31T08:00:60Z now %00 1',
    ).map((time) => get(`since=${time}`, `${V1}/shards/0/cells?since=${encodeURIComponent(time)}`)),
  ];
}

function batches(row: () => string): readonly HostileRequest[] {
  const cell = (ref_key: unknown, body: unknown = 1): object => ({
    row_key: row(),
    column_name: 'BASE',
    ref_key,
    body,
  });
  const cells = (...items: unknown[]): string => JSON.stringify({ cells: items });
  /** Returns a cell as text that JSON.stringify would not write. */
  const text = (inside: string): string => `{"row_key":"${row()}","column_name":"BASE",${inside}}`;
  const long = (position: number): object => cell(position, 'x'.repeat(1_000_000));
  const puts: readonly (readonly [string, string, HostileRequest['wants']?])[] = [
    ['a batch of 101', cells(...many(101, cell)), 'invalid_field'],
    ['a batch of 100', cells(...many(100, cell)), 'stored'],
    ['a batch of none', '{"cells":[]}', 'answered'],
    ['cells that are no array', '{"cells":{"length":1,"0":{}}}', 'invalid_field'],
    ['a batch with __proto__', '{"cells":[],"__proto__":{}}', 'unknown_field'],
    ['a cell with __proto__', `{"cells":[${text('"ref_key":1,"body":1,"__proto__":{}')}]}`, 'unknown_field'],
    ['a cell whose address is inherited', `{"cells":[{"__proto__":${text('"ref_key":1,"body":1')}}]}`, 'unknown_field'],
    ...words('"1" -1 1.5 9007199254740992 9007199254740993 null [1] 1e400 true {}').map(
      (key) => [`the ref key ${key}`, `{"cells":[${text(`"ref_key":${key},"body":1`)}]}`] as const,
    ),
    ['a ref key with an exponent', `{"cells":[${text('"ref_key":1e3,"body":1')}]}`, 'stored'],
    ['a body 100 deep', cells(cell(1, JSON.parse('['.repeat(100) + ']'.repeat(100)))), 'stored'],
    ['a body 101 deep', cells(cell(1, JSON.parse('['.repeat(101) + ']'.repeat(101))))],
    ['a batch of 3.9 MiB', cells(...many(4, long)), 'stored'],
    ['a batch over 4 MiB', cells(...many(5, long)), 'request_too_large'],
    ['the last cell of a batch malformed', cells(...many(99, cell), cell(-1)), 'invalid_field'],
  ];
  const keys = (...items: unknown[]): string => JSON.stringify({ keys: items });
  const first = (): object => ({ shard: 0, after: 0 });
  return [
    ...puts.map(([what, body, wants]) => post(what, `${V1}/batch-put`, body, wants)),
    post(
      '101 keys',
      `${V1}/batch-get`,
      keys(...many(101, () => ({ row_key: ROW, column_name: 'A' }))),
      'invalid_field',
    ),
    ...COLUMN_NAMES.slice(0, 40).map((column_name) => {
      const what = `the key ${JSON.stringify(column_name)}`;
      return post(what, `${V1}/batch-get`, keys({ row_key: ROW, column_name }), 'answered');
    }),
    post('1001 locations', `${V1}/log`, JSON.stringify({ locations: many(1001, first) }), 'invalid_field'),
    post(
      'one location 1000 times',
      `${V1}/log`,
      JSON.stringify({ limit: 1, locations: many(1000, first) }),
      'answered',
    ),
    ...words(
      '{"locations":[{"shard":-1,"after":0}]} {"locations":[{"shard":0,"after":1e15}]}',
      '{"locations":[{"shard":"0","after":0}]} {"locations":[{"shard":0}]} {"locations":null}',
      '{"limit":0,"locations":[]} [] " {"__proto__":[]}',
    ).map((body) => post(`the log ${body}`, `${V1}/log`, body)),
    ...[
      ...words('{"ids":["x"]} {"ids":["group-1/1"]}'),
      '{"ids":["group-1/1 OR 1=1"]}',
      ...words('{"ids":["__proto__/1"]} {"ids":["group-1/9999999999999999999999"]} {"ids":[null]} {"ids":"*"}'),
    ].map((body) => post(`conflicts ${body}`, `${V1}/buffer/conflicts/discard`, body)),
    ...words(
      '{} [] null {"shard":0} {"shard":"0","to":"group-2"} {"shard":99999,"to":"group-2"} {"shard":-1,"to":"group-2"}',
      `{"shard":0,"to":"../x"} {"shard":0,"to":"'"} {"shard":0,"to":"__proto__"} {"shard":0,"to":["group-2"]}`,
      '{"shard":0,"to":"group-2","switch":1} {"shard":0,"to":"group-2","complete_after_seconds":1e300}',
    ).map((body) => post(`a move ${body}`, `${V1}/moves`, body)),
    ...words('switch reverse complete cancel verify').flatMap((step) =>
      ['', '{"shard":1}', '[]'].map((body) => post(`to ${step} no move ${body}`, `${V1}/moves/0/${step}`, body)),
    ),
    ...words('pause resume rewind parked/retry parked/discard').flatMap((action) =>
      [
        '',
        ...words(
          '{} [] null {"reason":1} {"to":"end"} {"to":{"__proto__":1}} {"to":{"99999":0}}',
          '{"to":{"0":9007199254740991}} {"cells":"all"} {"cells":[{"shard":99999,"added_id":1}]}',
          '{"cells":[{"shard":0,"added_id":9007199254740991}]}',
        ),
      ].map((body) => post(`${action} ${body}`, `${V1}/triggers/watch_notes/${action}`, body)),
    ),
  ];
}

function headers(row: () => string): readonly HostileRequest[] {
  const odd: readonly Readonly<Record<string, string>>[] = [
    {},
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-type': 'multipart/form-data' },
    { 'content-type': '' },
    { 'content-type': 'x'.repeat(2000) },
    { 'content-encoding': 'gzip' },
    { 'transfer-encoding': 'chunked' },
    { 'x-forwarded-for': "127.0.0.1, '" },
    { 'x-http-method-override': 'DELETE' },
    { 'x-amzn-request-id': '../..' },
    { host: 'nowhere' },
    { cookie: 'a=1; b; =; ;;' },
    { accept: 'text/html' },
    { 'if-match': '*' },
    { range: 'bytes=0-1' },
    { authorization: 'Basic x' },
    { 'x-request-id': '\u00ff\u00fe' },
    { __proto__x: '1', constructor: 'x' },
    { traceparent: '00-0-0-00' },
  ];
  return [
    ...odd.map((headers): HostileRequest => ({
      ...put(`headers ${JSON.stringify(headers).slice(0, 40)}`, `${V1}/cells/${row()}/BASE/1`, '{"a":1}', 'stored'),
      headers,
    })),
    { ...get('headers over 10 KiB', `${V1}/shards`), headers: { 'x-long': 'x'.repeat(12_000) } },
    { ...put('another expectation', `${V1}/cells/${row()}/BASE/1`, '1'), headers: { expect: '200-maybe' } },
    { ...get('a GET with a body', `${V1}/shards`), headers: JSON_TYPE, body: Buffer.from('{"a":') },
  ];
}

/** Returns bytes that are hardly HTTP. */
function wires(row: () => string): readonly HostileRequest[] {
  const start = (): string => `PUT ${V1}/cells/${row()}/BASE/1 HTTP/1.1\r\nHost: localhost\r\n`;
  return [
    '\0'.repeat(100),
    'GET\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'BREW /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'GET /v1/health HTTP/1.1\r\n\r\n',
    `GET ${V1}/cells/a b HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    'GET http://x/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'CONNECT x:1 HTTP/1.1\r\nHost: localhost\r\n\r\n',
    `GET ${V1}/\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    `GET \u0000 HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    `${start()}Content-Length: -1\r\n\r\n1`,
    `${start()}Content-Length: 1\r\nContent-Length: 2\r\n\r\n1`,
    `${start()}Content-Length: 10\r\n\r\n1`,
    `${start()}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n`,
    `${start()}Transfer-Encoding: chunked\r\n\r\nzz\r\n1\r\n`,
    `${start()}Transfer-Encoding: chunked\r\n\r\nffffffffff\r\n1`,
    `${start()}X: a\r\n b\r\n\r\n`,
    `${start()}X\0Y: 1\r\n\r\n`,
    `${start()}: empty\r\n\r\n`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00',
  ].map((text) => {
    const what = `the bytes ${JSON.stringify(text.slice(0, 30))}`;
    return { what, method: '', target: '', raw: Buffer.from(text, 'latin1') };
  });
}

const REQUESTS = 200;
/** Every nth request is near the limit of a body. */
const LARGE_EVERY = 10;

/**
 * Returns ordinary requests, small and large, so that heaps which fill for the first time do not count as a cost of
 * hostile ones.
 */
export function ordinary(seed: string, shards: number): readonly HostileRequest[] {
  return [...puts(seed), ...reads(shards), ...reads(shards)];
}

/** Returns reads of full pages of the logs. */
function reads(shards: number): readonly HostileRequest[] {
  return Array.from({ length: shards }, (_, shard) => ({
    what: 'an ordinary log',
    method: 'GET',
    target: `/v1/trips/shards/${shard}/cells?after=0&limit=1000`,
    wants: 'answered',
  }));
}

function puts(seed: string): readonly HostileRequest[] {
  return Array.from({ length: REQUESTS }, (_, position) => {
    const [length, items] = position % LARGE_EVERY === 0 ? [1_000_000, 1000] : [2000, 20];
    const body = { text: 'x'.repeat(length), list: Array.from({ length: items }, (_, number) => ({ number })) };
    return {
      what: 'an ordinary cell',
      method: 'PUT',
      target: `/v1/trips/cells/${randomRowKey(new Random(seed, 'ordinary', position))}/BASE/1`,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(body)),
      wants: 'stored',
    };
  });
}

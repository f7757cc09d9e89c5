import { ExecuteStatementCommand, type SqlParameter } from '@aws-sdk/client-rds-data';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startDataApi } from '../../../../infra/local/data-api/data-api.ts';
import { STATEMENT_MS, type ResolveLogin } from '../../../../infra/local/data-api/execute.ts';
import { Faults } from '../../../../infra/local/data-api/faults.ts';
import { dataApiSdk } from '../../../support/data-api-sdk.ts';
import { dataApiOfTests, RESOURCE_ARN, serverLogin, TARGET } from './with-data-api.ts';

const api = await dataApiOfTests();
const { run } = api;
const table = `${api.database}.every`;
await run(`CREATE TABLE ${table} (
    id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, flag BOOLEAN, whole INT, big_u BIGINT UNSIGNED, d DOUBLE, price DECIMAL(12, 4),
    bit1 BIT, name VARCHAR(100), book LONGTEXT, raw VARBINARY(64), fixed BINARY(4), longblob_ LONGBLOB, day DATE, precise DATETIME(6),
    document JSON, size ENUM('small', 'large')
  )`);
beforeEach(() => run(`DELETE FROM ${table}`));
afterEach(() => api.faults.clear());

const failure = (name: string, message?: unknown, httpStatusCode?: number): object => ({
  name,
  ...(message !== undefined && { message }),
  ...(httpStatusCode !== undefined && { $metadata: expect.objectContaining({ httpStatusCode }) }),
});
const insert = () => run(`INSERT INTO ${table} (name) VALUES ('a')`);
const count = async () => (await run(`SELECT COUNT(*) FROM ${table}`)).records?.[0]?.[0]?.longValue;
const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);
const STRANGE = `'quoted' "twice" \\ :a ? \n\t\0 世界 🌍`;

describe('values', () => {
  it.each<[column: string, value: object, wanted: object]>([
    ['flag', { longValue: 5 }, { booleanValue: true }],
    ['flag', { booleanValue: false }, { booleanValue: false }],
    ['whole', { longValue: -2_147_483_648 }, { longValue: -2_147_483_648 }],
    ['d', { doubleValue: 1.7976931348623157e100 }, { doubleValue: 1.7976931348623157e100 }],
    ['price', { stringValue: '99999999.9999' }, { stringValue: '99999999.9999' }],
    ['bit1', { longValue: 1 }, { booleanValue: true }],
    ['name', { stringValue: STRANGE }, { stringValue: STRANGE }],
    ['book', { stringValue: 'B'.repeat(60_000) }, { stringValue: 'B'.repeat(60_000) }],
    ['raw', { blobValue: bytes(0, 1, 2, 255) }, { blobValue: bytes(0, 1, 2, 255) }],
    ['fixed', { blobValue: bytes(1) }, { blobValue: bytes(1, 0, 0, 0) }],
    ['longblob_', { blobValue: bytes(0x27, 0x5c, 0x3a) }, { blobValue: bytes(0x27, 0x5c, 0x3a) }],
    ['day', { stringValue: '2024-12-25' }, { stringValue: '2024-12-25' }],
    ['precise', { stringValue: '2024-12-25 14:30:45.123456' }, { stringValue: '2024-12-25 14:30:45.123456' }],
    ['document', { stringValue: '[1]' }, { stringValue: '[1]' }],
    ['size', { stringValue: 'large' }, { stringValue: 'large' }],
    ['name', { isNull: true }, { isNull: true }],
  ])('go through a column: %s %o', async (column, value, wanted) => {
    const parameters = [{ name: 'value', value } as SqlParameter];
    await run(`INSERT INTO ${table} (${column}) VALUES (:value)`, { parameters });
    expect((await run(`SELECT ${column} FROM ${table}`)).records).toEqual([[wanted]]);
  });

  it('of 64 bits keep their digits, as strings on the way back', async () => {
    const request = { ...TARGET, sql: 'SELECT :v', resultSetOptions: { longReturnType: 'STRING' } };
    const body = JSON.stringify({ ...request, parameters: [{ name: 'v', value: { longValue: 1 } }] });
    const response = await fetch(`${api.url}/Execute`, {
      method: 'POST',
      body: body.replace('"longValue":1', '"longValue":9223372036854775807'),
    });
    expect(await response.json()).toMatchObject({ records: [[{ stringValue: '9223372036854775807' }]] });
  });

  it('are counted where rows change, with what was generated or told to LAST_INSERT_ID', async () => {
    const generatedFields = [{ longValue: expect.any(Number) }];
    expect(await insert()).toMatchObject({ numberOfRecordsUpdated: 1, generatedFields });
    expect(await run(`UPDATE ${table} SET name = 'a'`)).toMatchObject({ numberOfRecordsUpdated: 1 });
    const told = await run(`UPDATE ${table} SET id = LAST_INSERT_ID(41 + 1)`);
    expect(told).toMatchObject({ numberOfRecordsUpdated: 1, generatedFields: [{ longValue: 42 }] });
  });
});

describe('limits', () => {
  it('a row has 64 KiB at most', async () => {
    expect(await run("SELECT REPEAT('x', 65536)")).toHaveProperty('records');
    await expect(run("SELECT REPEAT('x', 65537)")).rejects.toMatchObject(
      failure('DatabaseErrorException', 'Packet for query is too large (65537 > 65536)'),
    );
  });

  it('a result has 1 MiB at most', async () => {
    const rows = (n: number): string =>
      `WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < ${n}) SELECT REPEAT('x', 1024) FROM n`;
    expect((await run(rows(1000))).records).toHaveLength(1000);
    await expect(run(`SELECT * FROM (${rows(1000)}) a UNION ALL SELECT * FROM (${rows(100)}) b`)).rejects.toMatchObject(
      failure('UnsupportedResultException', 'Database response exceeded size limit'),
    );
  });

  it('a request has 4 MiB at most, base64 and all', async () => {
    const body = (size: number) =>
      run(`INSERT INTO ${table} (longblob_) VALUES (:body)`, {
        parameters: [{ name: 'body', value: { blobValue: new Uint8Array(size) } }],
      });
    await body(3 * 1024 * 1024 - 10 * 1024);
    await expect(body(3 * 1024 * 1024)).rejects.toMatchObject(
      failure('RequestEntityTooLargeException', undefined, 413),
    );
    expect(await count()).toBe(1);
  });

  it('a statement has 65536 characters at most, without its values', async () => {
    const sql = (length: number): string => `SELECT 1 /*${'x'.repeat(length - 13)}*/`;
    await run(sql(65_536));
    const message = expect.stringContaining('length less than or equal to 65536');
    await expect(run(sql(65_537))).rejects.toMatchObject(failure('ValidationException', message));
  });

  it.each([false, true])('a statement has 45 s, and then continues only if the call says so: %s', async (continues) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const sql = `INSERT INTO ${table} (name) SELECT 'late' FROM (SELECT SLEEP(${continues ? 1 : 1000})) AS s`;
    const running = async () =>
      (await run(`SELECT COUNT(*) FROM information_schema.processlist WHERE info = '${sql.replaceAll("'", "''")}'`))
        .records?.[0]?.[0]?.longValue;
    const call = run(sql, { continueAfterTimeout: continues });
    await expect.poll(running).toBe(1);
    vi.advanceTimersByTime(STATEMENT_MS);
    await expect(call).rejects.toMatchObject(failure('StatementTimeoutException', 'Request timed out', 400));
    await expect.poll(running).toBe(0);
    expect(await count()).toBe(continues ? 1 : 0);
  });
});

describe('refused', () => {
  const SQL = { ...TARGET, sql: 'SELECT :a' };
  const VALUES = [{}, { isNull: false }, { longValue: 1.5 }, { longValue: 1, stringValue: 'a' }, { blobValue: '!' }];
  it.each<[string, string | object, number, string, string]>([
    ['/Execute', '{', 400, 'SerializationException', 'not JSON'],
    ['/Execute', '[]', 400, 'SerializationException', 'structure'],
    ['/Execute', '{}', 400, 'ValidationException', "Value null at 'sql'"],
    ['/Execute', { ...TARGET, sql: 1 }, 400, 'SerializationException', 'sql: wanted a string, got 1'],
    ['/Execute', { ...SQL, transactionId: 'x' }, 400, 'ValidationException', 'transactionId'],
    [
      '/Execute',
      { ...SQL, sql: 'SELECT 1; SELECT 2' },
      400,
      'ValidationException',
      "Multistatements aren't supported.",
    ],
    ['/Execute', SQL, 400, 'ValidationException', 'Cannot find parameter: a'],
    ...[...VALUES, { arrayValue: {} }].map((value): [string, object, number, string, string] => [
      '/Execute',
      { ...SQL, parameters: [{ name: 'a', value }] },
      400,
      'SerializationException',
      'parameter',
    ]),
    ['/BeginTransaction', TARGET, 404, 'UnknownOperationException', 'ExecuteStatement'],
  ])('is what the store never sends: %s %j', async (path, body, status, type, message) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(api.url + path, { method: 'POST', body: text });
    expect([response.status, response.headers.get('x-amzn-errortype')]).toEqual([status, type]);
    expect(Object(await response.json()).message).toContain(message);
  });

  it('is a web page, which a browser lets send statements without asking first', async () => {
    const body = JSON.stringify({ ...TARGET, sql: `INSERT INTO ${table} (name) VALUES ('page')` });
    const ask = { method: 'POST', body, headers: { 'content-type': 'text/plain', origin: 'http://elsewhere.example' } };
    expect((await fetch(`${api.url}/Execute`, ask)).status).toBe(403);
    expect(await count()).toBe(0);
  });

  it.each<[string, object, ResolveLogin]>([
    ['an unknown cluster', failure('HttpEndpointNotEnabledException'), () => undefined],
    [
      'an unknown secret',
      failure('SecretsErrorException', expect.stringContaining('gone')),
      () => Promise.reject(new Error('gone')),
    ],
    [
      'a wrong password',
      failure('DatabaseErrorException', expect.stringContaining('Error code: 1045; SQLState: 28000')),
      () => ({ ...serverLogin(), password: 'wrong' }),
    ],
    [
      'a server that is away',
      failure('DatabaseUnavailableException', undefined, 504),
      () => ({ ...serverLogin(), port: 1 }),
    ],
  ])('is %s', async (_, wanted, login) => {
    const other = await startDataApi({ login });
    const client = dataApiSdk(other.url);
    onTestFinished(async () => {
      client.destroy();
      await other.stop();
    });
    const call = client.send(new ExecuteStatementCommand({ ...TARGET, resourceArn: RESOURCE_ARN, sql: 'SELECT 1' }));
    await expect(call).rejects.toMatchObject(wanted);
  });
});

describe('faults', () => {
  it.each([
    ['resuming', 'DatabaseResumingException', 400],
    ['unavailable', 'DatabaseUnavailableException', 504],
    ['throttled', 'ThrottlingException', 400],
  ] as const)('%s refuses a call before it is done', async (kind, name, status) => {
    api.faults.set({ kind, count: 1 });
    await expect(insert()).rejects.toMatchObject(failure(name, undefined, status));
    expect(await count()).toBe(0);
    await insert();
  });

  it('cut off a call after it was done, and none that failed', async () => {
    api.faults.set({ kind: 'cut-after-commit', count: 1 });
    await expect(run('NOT SQL')).rejects.toMatchObject(failure('DatabaseErrorException'));
    await expect(insert()).rejects.toThrow(/ECONNRESET|hang up/);
    expect(await count()).toBe(1);
  });

  it('hit as many calls as their share says', () => {
    const numbers = [0.1, 0.25, 0.24, 0.9];
    const faults = new Faults(() => numbers.shift() ?? 1);
    faults.set({ kind: 'resuming', share: 0.25 });
    const refuses = Array.from({ length: 4 }, () => {
      try {
        faults.refuse();
        return false;
      } catch {
        return true;
      }
    });
    expect(refuses).toEqual([true, false, true, false]);
  });
});

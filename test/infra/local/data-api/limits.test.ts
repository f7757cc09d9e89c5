import { ExecuteStatementCommand } from '@aws-sdk/client-rds-data';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DEFAULT_LIMITS, type Limits } from '../../../../infra/local/data-api/limits.ts';
import { startDataApi } from '../../../../infra/local/data-api/data-api.ts';
import {
  callsOf,
  clientOf,
  failure,
  fakeTimeouts,
  long,
  onlyRow,
  dataApiOfTests,
  RESOURCE_ARN,
  runningOn,
  SECRET_ARN,
  serverLogin,
  TARGET,
  text,
  type Calls,
} from './with-data-api.ts';

const api = await dataApiOfTests('CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, body LONGBLOB)');

/** The same servers with other limits. */
async function withLimits<T>(limits: Partial<Limits>, use: (calls: Calls) => Promise<T>): Promise<T> {
  const other = await startDataApi({ clusters: () => serverLogin(), limits });
  const client = clientOf(other.url);
  try {
    return await use(callsOf(client, api.database));
  } finally {
    client.destroy();
    await other.stop();
  }
}

const KIB = 1024;

describe('sizes', () => {
  it('a row has 64 KiB at most', async () => {
    expect(await api.run("SELECT REPEAT('x', 65536)")).toHaveProperty('records');
    const tooLarge = { name: 'DatabaseErrorException', message: 'Packet for query is too large (65537 > 65536)' };
    await expect(api.run("SELECT REPEAT('x', 65537)")).rejects.toMatchObject(tooLarge);
    await expect(api.run("SELECT REPEAT('x', 65536), 'y'")).rejects.toMatchObject(tooLarge);
    await withLimits({ rowBytes: Number.POSITIVE_INFINITY }, async ({ run }) => {
      expect(await run("SELECT REPEAT('x', 500000)")).toMatchObject({
        records: [[{ stringValue: expect.any(String) }]],
      });
    });
  });

  it('a result has 1 MiB at most; what is larger is not read to its end', async () => {
    const rows = (count: number): string =>
      `WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT REPEAT('x', 1024) FROM n`;
    expect((await api.run(rows(1000))).records).toHaveLength(1000);
    await expect(
      api.run(rows(1025), { sql: `SELECT * FROM (${rows(1000)}) a UNION ALL SELECT * FROM (${rows(100)}) b` }),
    ).rejects.toMatchObject(failure('UnsupportedResultException', 'Database response exceeded size limit'));
    await withLimits({ resultBytes: Number.POSITIVE_INFINITY }, async ({ run }) => {
      expect(
        (await run(`SELECT * FROM (${rows(1000)}) a UNION ALL SELECT * FROM (${rows(100)}) b`)).records,
      ).toHaveLength(1100);
    });
  });

  it('a transaction does not survive a result that is too large', async () => {
    const transactionId = await api.begin();
    await expect(api.run("SELECT REPEAT('x', 70000)", { transactionId })).rejects.toMatchObject(
      failure('DatabaseErrorException'),
    );
    await expect(api.run('SELECT 1', { transactionId })).rejects.toMatchObject(
      failure('TransactionNotFoundException', expect.stringContaining('aborted')),
    );
  });

  it('a request has 4 MiB at most, base64 and all', async () => {
    const body = (bytes: number) =>
      api.run('INSERT INTO t (body) VALUES (:body)', {
        parameters: [{ name: 'body', value: { blobValue: new Uint8Array(bytes) } }],
      });
    await body(3 * KIB * KIB - 10 * KIB);
    await expect(body(3 * KIB * KIB)).rejects.toMatchObject(failure('RequestEntityTooLargeException', undefined, 413));
    expect(onlyRow(await api.run('SELECT COUNT(*) FROM t'))).toEqual([{ longValue: 1 }]);
  });

  it('a statement has 65536 characters at most, without its parameters', async () => {
    const sql = (length: number): string => `SELECT 1 /*${'x'.repeat(length - 13)}*/`;
    await api.run(sql(65_536));
    const tooLong = "'sql' failed to satisfy constraint: Member must have length less than or equal to 65536";
    await expect(api.run(sql(65_537))).rejects.toMatchObject(
      failure('ValidationException', expect.stringContaining(tooLong)),
    );
    await withLimits({ sqlCharacters: Number.POSITIVE_INFINITY }, ({ run }) => run(sql(100_000)));
  });

  it('the JSON of a result has its own limit', async () => {
    await withLimits({ formattedBytes: 20 }, async ({ run }) => {
      expect(await run("SELECT 'abc' AS a", { formatRecordsAs: 'JSON' })).toMatchObject({
        formattedRecords: '[{"a":"abc"}]',
      });
      await expect(run("SELECT 'abcdefghijkl' AS a", { formatRecordsAs: 'JSON' })).rejects.toMatchObject(
        failure('UnsupportedResultException'),
      );
    });
  });
});

describe('times, of which a statement has 45 seconds', () => {
  const LIMIT_MS = DEFAULT_LIMITS.statementMs;
  const TIMEOUT = failure('StatementTimeoutException', 'Request timed out', 400);
  const records = async (sql: string) => (await api.run(sql)).records;
  beforeEach(() => fakeTimeouts());
  afterEach(() => void vi.useRealTimers());

  it('a statement that takes longer is cancelled', async () => {
    const sql = 'INSERT INTO t (id) SELECT 1000 FROM (SELECT SLEEP(1000)) AS s';
    const call = api.run(sql);
    await runningOn(api, sql);
    vi.advanceTimersByTime(LIMIT_MS);
    await expect(call).rejects.toMatchObject({ ...TIMEOUT, dbConnectionId: expect.any(Number) });
    const running = `SELECT 1 FROM information_schema.processlist WHERE info LIKE '${sql}'`;
    await expect.poll(() => records(running)).toEqual([]);
    expect(await records('SELECT id FROM t WHERE id = 1000')).toEqual([]);
  });

  it('or continues where the call says so', async () => {
    const transactionId = await api.begin();
    await api.run("SELECT GET_LOCK('late', 0)", { transactionId });
    const sql = "INSERT INTO t (id) SELECT 2000 FROM (SELECT GET_LOCK('late', 1000)) AS s";
    const call = api.run(sql, { continueAfterTimeout: true });
    await runningOn(api, sql);
    vi.advanceTimersByTime(LIMIT_MS);
    await expect(call).rejects.toMatchObject(TIMEOUT);
    const inserted = 'SELECT id FROM t WHERE id = 2000';
    expect(await records(inserted)).toEqual([]);
    await api.run("SELECT RELEASE_LOCK('late')", { transactionId });
    await expect.poll(() => records(inserted)).toEqual([[{ longValue: 2000 }]]);
    await api.rollback(transactionId);
  });

  it('a batch ends with the set that is under way', async () => {
    const sets = [0, 1000, 0].map((seconds, at) => [long('id', 3001 + at), long('seconds', seconds)]);
    const sql = 'INSERT INTO t (id) SELECT :id FROM (SELECT SLEEP(:seconds)) AS s';
    const call = api.batch(sql, sets);
    await runningOn(api, 'INSERT INTO t (id) SELECT 3002');
    vi.advanceTimersByTime(LIMIT_MS);
    await expect(call).rejects.toMatchObject(TIMEOUT);
    expect(await records('SELECT id FROM t WHERE id > 3000')).toEqual([[{ longValue: 3001 }]]);
  });

  it('a transaction continues after a statement that was cancelled', async () => {
    const transactionId = await api.begin();
    const sql = 'SELECT COUNT(*) FROM (SELECT SLEEP(1000)) AS s';
    const call = api.run(sql, { transactionId });
    await runningOn(api, sql);
    vi.advanceTimersByTime(LIMIT_MS);
    await expect(call).rejects.toMatchObject(TIMEOUT);
    expect(await api.run('SELECT 1', { transactionId })).toHaveProperty('records');
    await api.rollback(transactionId);
  });
});

describe('what is refused', () => {
  it('a second statement', async () => {
    await expect(api.run('SELECT 1; SELECT 2')).rejects.toMatchObject(
      failure('ValidationException', "Multistatements aren't supported."),
    );
    expect(await api.run('SELECT 1;')).toHaveProperty('records');
    await withLimits({ singleStatement: false }, async ({ run }) => {
      expect(await run('SELECT 1; SELECT 2')).toMatchObject({ records: [[{ longValue: 2 }]] });
      expect(await run('SELECT 1; INSERT INTO t (id) VALUES (4000)')).toMatchObject({ numberOfRecordsUpdated: 1 });
    });
  });

  it('no stored program, for the semicolons in it', async () => {
    await api.run('CREATE PROCEDURE two() BEGIN SELECT 1 AS a; SELECT 2 AS b; END');
    expect(onlyRow(await api.run('CALL two()'))).toEqual([{ longValue: 1 }]);
  });

  const ARRAY = { name: 'v', value: { arrayValue: { longValues: [1] } } };
  it.each([
    ['array parameters', { parameters: [ARRAY] }, 'Array parameters are not supported.'],
    ['a parameter that is not there', { parameters: [text('w', 'x')] }, 'Cannot find parameter: v'],
    ['a schema', { schema: 's' }, "The schema parameter isn't supported"],
  ])('%s', async (_, input, message) => {
    await expect(api.run('SELECT :v', input)).rejects.toMatchObject(failure('ValidationException', message));
  });

  it('arguments of other lengths than the model allows', async () => {
    const tooShort =
      "1 validation error detected: Value 'arn:short' at 'resourceArn' failed to satisfy constraint: Member must have length greater than or equal to 11";
    const others = [{ secretArn: 'x'.repeat(101) }, { database: 'x'.repeat(65) }];
    for (const input of [{ resourceArn: 'arn:short' }, ...others])
      await expect(api.run('SELECT 1', input)).rejects.toMatchObject(
        failure('ValidationException', 'resourceArn' in input ? tooShort : undefined),
      );
    const allowed = { resourceArn: 'arn:short', schema: 's' };
    await withLimits({ argumentLengths: false, noSchema: false }, ({ run }) => run('SELECT 1', allowed));
  });

  const MISSING =
    "1 validation error detected: Value null at 'resourceArn' failed to satisfy constraint: Member must not be null";
  const DEPRECATED = 'This API is deprecated and not available. Use ExecuteStatement API instead';
  const VALUES = [{}, { isNull: false }, { longValue: 1.5 }, { longValue: 1, stringValue: 'a' }, { blobValue: '!' }];
  const SQL = { ...TARGET, sql: 'SELECT :a' };
  it.each<[string, string | object, number, unknown, unknown]>([
    ['/Execute', '{', 400, 'SerializationException', expect.stringContaining('not JSON')],
    ['/Execute', '[]', 400, 'SerializationException', expect.any(String)],
    ['/Execute', '{}', 400, 'ValidationException', MISSING],
    ['/Execute', { ...TARGET, sql: 1 }, 400, 'SerializationException', 'sql: wanted a string, got 1'],
    ...[...VALUES, { other: 1 }].map((value): [string, object, number, unknown, unknown] => [
      '/Execute',
      { ...SQL, parameters: [{ name: 'a', value }] },
      400,
      expect.stringMatching(/SerializationException|ValidationException/),
      expect.stringContaining('parameter a'),
    ]),
    [
      '/Execute',
      { ...SQL, formatRecordsAs: 'XML' },
      400,
      'ValidationException',
      expect.stringContaining('[NONE, JSON]'),
    ],
    ['/ExecuteSql', '{}', 400, 'BadRequestException', DEPRECATED],
    ['/Other', '{}', 404, 'UnknownOperationException', expect.any(String)],
    ['//', '{}', 404, 'UnknownOperationException', expect.any(String)],
  ])('what is no request of this API: %s %j', async (path, body, status, type, message) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(api.url + path, { method: 'POST', body: text });
    const got = [response.status, response.headers.get('x-amzn-errortype'), Object(await response.json()).message];
    expect(got).toEqual([status, type, message]);
  });
});

describe('clusters and secrets', () => {
  const login = serverLogin();
  const ask = async (clusters: Parameters<typeof startDataApi>[0]['clusters'], target = {}) => {
    const other = await startDataApi({ clusters });
    const client = clientOf(other.url);
    try {
      return await client.send(new ExecuteStatementCommand({ ...TARGET, sql: 'SELECT 1', ...target }));
    } finally {
      client.destroy();
      await other.stop();
    }
  };

  it('an unknown cluster has no endpoint', async () => {
    const resourceArn = `${RESOURCE_ARN}-other`;
    await expect(api.run('SELECT 1', { resourceArn })).rejects.toMatchObject(
      failure('HttpEndpointNotEnabledException', `HttpEndpoint is not enabled for resource ${resourceArn}`),
    );
    await expect(ask(() => undefined)).rejects.toMatchObject(failure('HttpEndpointNotEnabledException'));
  });

  it('any secret will do unless one is named, or looked up', async () => {
    await api.run('SELECT 1', { secretArn: `${SECRET_ARN}-any` });
    const { user, password, ...server } = login;
    await ask([{ resourceArn: RESOURCE_ARN, ...login, secretArn: SECRET_ARN }]);
    await expect(
      ask([{ resourceArn: RESOURCE_ARN, ...login, secretArn: `${SECRET_ARN}-other` }]),
    ).rejects.toMatchObject(failure('SecretsErrorException', expect.stringContaining(SECRET_ARN)));
    await ask([{ resourceArn: RESOURCE_ARN, ...server, secretArn: async () => ({ username: user, password }) }]);
    await expect(
      ask([{ resourceArn: RESOURCE_ARN, ...server, secretArn: () => Promise.reject(new Error('no such secret')) }]),
    ).rejects.toMatchObject(failure('SecretsErrorException', expect.stringContaining('no such secret')));
  });

  it('the server judges the login and the database', async () => {
    await expect(ask(() => ({ ...login, password: 'wrong' }))).rejects.toMatchObject(
      failure('DatabaseErrorException', expect.stringMatching(/^Access denied.*; Error code: 1045; SQLState: 28000$/)),
    );
    await expect(api.run('SELECT 1', { database: 'nowhere' })).rejects.toMatchObject(
      failure('DatabaseErrorException', "Unknown database 'nowhere'; Error code: 1049; SQLState: 42000"),
    );
  });

  it('a server that is away has no writer', async () => {
    await expect(ask(() => ({ ...login, port: 1 }))).rejects.toMatchObject(
      failure('DatabaseUnavailableException', undefined, 504),
    );
  });
});

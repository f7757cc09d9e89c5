import { ExecuteStatementCommand, RDSDataClient, type Field, type SqlParameter } from '@aws-sdk/client-rds-data';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { long, onlyRow, dataApiOfTests, TARGET, text } from './with-data-api.ts';

/** What client libraries and query builders over the API send, and what they read in its answers. */
const api = await dataApiOfTests(
  `CREATE TABLE IF NOT EXISTS people (
    id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(255) NOT NULL, email VARCHAR(255) UNIQUE NOT NULL, age INT, score DECIMAL(10, 2),
    active BOOLEAN DEFAULT TRUE, joined DATETIME(3), meta JSON, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP
  )`,
  'CREATE TABLE notes (id INT AUTO_INCREMENT PRIMARY KEY, person_id INT NOT NULL, FOREIGN KEY (person_id) REFERENCES people (id) ON DELETE CASCADE)',
);
beforeEach(() => api.run('DELETE FROM people'));

const person = (name: string, email: string, age: SqlParameter['value'] = { isNull: true }): SqlParameter[] => [
  text('name', name),
  text('email', email),
  { name: 'age', value: age },
];
const INSERT = 'INSERT INTO people (name, email, age) VALUES (:name, :email, :age)';

/** As wrappers do: an object for each row, by label, with types from the metadata. */
async function rowsOf(sql: string, parameters: SqlParameter[] = []): Promise<Record<string, unknown>[]> {
  const { records = [], columnMetadata = [] } = await api.run(sql, { parameters, includeResultMetadata: true });
  const entryOf = (field: Field, position: number): readonly [string, unknown] => {
    const { label = '', typeName = '' } = columnMetadata[position] ?? {};
    return [label, valueOf(field, typeName)];
  };
  return records.map((record) => Object.fromEntries(record.map(entryOf)));
}

function valueOf(field: Field, typeName: string): unknown {
  if (field.isNull) return null;
  const [value] = Object.values(field);
  if (typeName === 'JSON') return JSON.parse(String(value));
  return typeName === 'YEAR' ? Number(value) : value;
}

describe('wrappers', () => {
  it('find the endpoint by the variable of the SDK alone', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_RDS_DATA', api.url);
    onTestFinished(() => void vi.unstubAllEnvs());
    const client = new RDSDataClient({ region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
    const answer = await client.send(new ExecuteStatementCommand({ ...TARGET, sql: 'SELECT 1' }));
    expect(onlyRow(answer)).toEqual([{ longValue: 1 }]);
    client.destroy();
  });

  it('read objects by label, with booleans, decimals and JSON', async () => {
    const { generatedFields } = await api.run(
      'INSERT INTO people (name, email, score, active, meta) VALUES (:name, :email, :score, :active, :meta)',
      {
        parameters: [
          text('name', 'Ada'),
          text('email', 'ada@example.com'),
          { name: 'score', value: { doubleValue: 9.5 } },
          { name: 'active', value: { booleanValue: false } },
          text('meta', '{"tags":["a",1,true,null]}'),
        ],
      },
    );
    const id = generatedFields?.[0]?.longValue ?? 0;
    expect(id).toBeGreaterThan(0);
    expect(
      await rowsOf('SELECT p.id, name AS called, age, score, active, meta, 2024 AS n FROM people p WHERE p.id = :id', [
        long('id', id),
      ]),
    ).toEqual([
      { id, called: 'Ada', age: null, score: '9.50', active: false, meta: { tags: ['a', 1, true, null] }, n: 2024 },
    ]);
  });

  it('send dates as texts with a hint', async () => {
    const moment = new Date('2024-12-25T14:30:45.123Z');
    const sent = moment.toISOString().replace('T', ' ').replace('Z', '');
    await api.run('INSERT INTO people (name, email, joined) VALUES (:name, :email, :joined)', {
      parameters: [text('name', 'a'), text('email', 'b'), text('joined', sent, 'TIMESTAMP')],
    });
    const [row] = await rowsOf('SELECT joined FROM people');
    expect(new Date(`${String(row?.['joined'])}Z`)).toEqual(moment);
  });

  it('write batches of rows with nulls, and read counts', async () => {
    const parameterSets = [person('A', 'a', { longValue: 30 }), person('B', 'b'), person('C', 'c', { longValue: 35 })];
    const { updateResults } = await api.batch(INSERT, parameterSets);
    const generated = Array.from({ length: 3 }, () => ({ generatedFields: [{ longValue: expect.any(Number) }] }));
    expect(updateResults).toEqual(generated);
    await api.batch('DELETE FROM people WHERE email = :email', [[text('email', 'a')], [text('email', 'b')]]);
    expect(await rowsOf('SELECT COUNT(*) AS count, SUM(age) AS sum, AVG(age) AS average FROM people')).toEqual([
      { count: 1, sum: '35', average: '35.0000' },
    ]);
  });

  it('roll back when a statement fails, and tell the first error', async () => {
    const transactionId = await api.begin();
    await api.run(INSERT, { transactionId, parameters: person('A', 'same') });
    await expect(api.run(INSERT, { transactionId, parameters: person('B', 'same') })).rejects.toThrow(
      'Duplicate entry',
    );
    expect(await api.rollback(transactionId)).toMatchObject({ transactionStatus: 'Rollback Complete' });
    expect(await rowsOf('SELECT * FROM people')).toEqual([]);
  });
});

describe('query builders', () => {
  it('number their parameters, or give them names of their own', async () => {
    expect(await rowsOf('SELECT :1 AS a, :0 AS b', [text('0', 'x'), text('1', 'y')])).toEqual([{ a: 'y', b: 'x' }]);
    expect(await rowsOf('SELECT :param_0 AS a, :param_10 AS b', [text('param_0', 'x'), text('param_10', 'y')])).toEqual(
      [{ a: 'x', b: 'y' }],
    );
  });

  it('write values into the text', async () => {
    expect(await rowsOf(String.raw`SELECT 'it\'s ; :not a ? parameter' AS a, "x" AS b FROM dual -- done`)).toEqual([
      { a: "it's ; :not a ? parameter", b: 'x' },
    ]);
  });

  it('ask for many rows at once', async () => {
    const values = Array.from({ length: 200 }, (_, index) => `(:n${index}, :n${index})`).join(', ');
    const answer = await api.run(`INSERT INTO people (name, email) VALUES ${values}`, {
      parameters: Array.from({ length: 200 }, (_, index) => text(`n${index}`, `p${index}`)),
    });
    expect(answer.numberOfRecordsUpdated).toBe(200);
    const rows = await rowsOf('SELECT id FROM people ORDER BY id');
    // The first id of the statement, from which builders count on.
    expect(answer.generatedFields).toEqual([{ longValue: rows[0]?.['id'] }]);
  });

  it('leave out duplicates, and replace them', async () => {
    await api.run(INSERT, { parameters: person('A', 'a') });
    expect(await api.run(INSERT.replace('INSERT', 'INSERT IGNORE'), { parameters: person('B', 'a') })).toMatchObject({
      numberOfRecordsUpdated: 0,
      generatedFields: [],
    });
    expect(
      await api.run(`${INSERT} ON DUPLICATE KEY UPDATE name = 'C'`, { parameters: person('B', 'a') }),
    ).toMatchObject({ numberOfRecordsUpdated: 2 });
  });

  it('limit by parameters', async () => {
    for (const name of ['a', 'b', 'c']) await api.run(INSERT, { parameters: person(name, name) });
    expect(
      await rowsOf('SELECT name FROM people ORDER BY name LIMIT :limit OFFSET :offset', [
        long('limit', 1),
        long('offset', 1),
      ]),
    ).toEqual([{ name: 'b' }]);
  });

  it('begin a transaction, and commit it', async () => {
    const transactionId = await api.begin();
    const { generatedFields } = await api.run(INSERT, { transactionId, parameters: person('A', 'a') });
    await api.run('INSERT INTO notes (person_id) VALUES (:id)', {
      transactionId,
      parameters: [{ name: 'id', value: generatedFields?.[0] }],
    });
    await api.commit(transactionId);
    expect(await rowsOf('SELECT name FROM people JOIN notes ON person_id = people.id')).toEqual([{ name: 'A' }]);
  });

  it('name tables after functions, and find the server in its own mode', async () => {
    await api.run('CREATE TABLE position (id INT)');
    expect(await api.run('INSERT INTO position (id) VALUES (1)')).toMatchObject({ numberOfRecordsUpdated: 1 });
    expect(await rowsOf('SELECT @@SESSION.sql_mode = @@GLOBAL.sql_mode AS same')).toEqual([{ same: 1 }]);
    await api.run('DROP TABLE position');
  });

  it('look at the schema', async () => {
    const columns = await rowsOf(
      'SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE table_schema = :schema AND table_name = :table ORDER BY ordinal_position',
      [text('schema', api.database), text('table', 'notes')],
    );
    expect(columns).toEqual([
      { name: 'id', type: 'int' },
      { name: 'person_id', type: 'int' },
    ]);
    expect((await rowsOf('SHOW TABLES')).map((row) => Object.values(row)[0])).toEqual(['notes', 'people']);
    expect(Object.values((await rowsOf('SHOW CREATE TABLE notes'))[0] ?? {})).toEqual([
      'notes',
      expect.stringContaining('CREATE TABLE'),
    ]);
    expect((await rowsOf('DESCRIBE notes'))[0]).toMatchObject({ Field: 'id', Null: 'NO' });
  });
});

describe('errors that are told apart by their text', () => {
  it.each([
    ["INSERT INTO people (name, email) VALUES ('x', 'taken')", 'Duplicate entry', 1062, '23000'],
    [
      'INSERT INTO notes (person_id) VALUES (9999)',
      'Cannot add or update a child row: a foreign key constraint fails',
      1452,
      '23000',
    ],
    ["INSERT INTO people (name, email) VALUES (NULL, 'x')", "Column 'name' cannot be null", 1048, '23000'],
    ['SELECT * FROM nowhere', "doesn't exist", 1146, '42S02'],
    ['SELECT nothing FROM people', 'Unknown column', 1054, '42S22'],
    ['SELEC * FROM people', 'You have an error in your SQL syntax', 1064, '42000'],
    [
      "SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 30001, MESSAGE_TEXT = 'one of our own'",
      'one of our own',
      30_001,
      '45000',
    ],
    ["INSERT INTO people (name, email) VALUES (REPEAT('x', 300), 'x')", 'Data too long', 1406, '22001'],
  ])('%s', async (sql, message, errno, sqlState) => {
    await api.run(INSERT, { parameters: person('x', 'taken') });
    const error = {
      name: 'DatabaseErrorException',
      $metadata: expect.objectContaining({ httpStatusCode: 400 }),
      message: expect.stringMatching(new RegExp(`${message}.*; Error code: ${errno}; SQLState: ${sqlState}$`, 's')),
    };
    await expect(api.run(sql)).rejects.toMatchObject(error);
  });
});

it('many calls at once are all answered', async () => {
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) => api.run('SELECT :n', { parameters: [long('n', index)] })),
  );
  expect(answers.map((answer) => onlyRow(answer)[0])).toEqual(
    Array.from({ length: 60 }, (_, index) => ({ longValue: index })),
  );
});

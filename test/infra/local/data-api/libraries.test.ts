import { ExecuteStatementCommand, RDSDataClient, type Field, type SqlParameter } from '@aws-sdk/client-rds-data';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { long, onlyRow, dataApiOfTests, TARGET, text } from './with-data-api.ts';

/** What client libraries and query builders over the API send, and what they read in its answers. */
const api = await dataApiOfTests(
  `CREATE TABLE IF NOT EXISTS people (
    id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(255) NOT NULL, email VARCHAR(255) UNIQUE NOT NULL, score DECIMAL(10, 2),
    active BOOLEAN DEFAULT TRUE, meta JSON
  )`,
  'CREATE TABLE notes (id INT AUTO_INCREMENT PRIMARY KEY, person_id INT NOT NULL, FOREIGN KEY (person_id) REFERENCES people (id) ON DELETE CASCADE)',
);
beforeEach(() => api.run('DELETE FROM people'));

const INSERT = 'INSERT INTO people (name, email) VALUES (:name, :email)';
const person = (name: string, email: string): SqlParameter[] => [text('name', name), text('email', email)];

/** As wrappers do: an object for each row, by label, with types from the metadata. */
async function rowsOf(sql: string, parameters: SqlParameter[] = []): Promise<Record<string, unknown>[]> {
  const { records = [], columnMetadata = [] } = await api.run(sql, { parameters, includeResultMetadata: true });
  const entryOf = (field: Field, position: number): readonly [string, unknown] => {
    const { label = '', typeName = '' } = columnMetadata[position] ?? {};
    const value: unknown = field.isNull ? null : Object.values(field)[0];
    return [label, typeName === 'JSON' ? JSON.parse(String(value)) : value];
  };
  return records.map((record) => Object.fromEntries(record.map(entryOf)));
}

describe('client libraries', () => {
  it('find the endpoint by the variable of the SDK alone', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_RDS_DATA', api.url);
    onTestFinished(() => void vi.unstubAllEnvs());
    const client = new RDSDataClient({ region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
    const answer = await client.send(new ExecuteStatementCommand({ ...TARGET, sql: 'SELECT 1' }));
    expect(onlyRow(answer)).toEqual([{ longValue: 1 }]);
    client.destroy();
  });

  it('read objects by label, with booleans, decimals and JSON', async () => {
    await api.run("INSERT INTO people (name, email, score, active, meta) VALUES ('Ada', 'a', 9.5, FALSE, '[1, null]')");
    expect(await rowsOf('SELECT p.name AS called, score, active, meta, 2024 AS n FROM people p')).toEqual([
      { called: 'Ada', score: '9.50', active: false, meta: [1, null], n: 2024 },
    ]);
  });

  it('insert many rows with one statement, and get the first generated id', async () => {
    const values = Array.from({ length: 200 }, (_, index) => `(:n${index}, :n${index})`).join(', ');
    const answer = await api.run(`INSERT INTO people (name, email) VALUES ${values}`, {
      parameters: Array.from({ length: 200 }, (_, index) => text(`n${index}`, `p${index}`)),
    });
    const [first] = await rowsOf('SELECT MIN(id) AS id FROM people');
    expect(answer).toMatchObject({ numberOfRecordsUpdated: 200, generatedFields: [{ longValue: first?.['id'] }] });
  });

  it('ignore duplicates, replace them, and limit by parameters', async () => {
    await api.run(INSERT, { parameters: person('A', 'a') });
    const again = (sql: string) => api.run(sql, { parameters: person('B', 'a') });
    expect(await again(INSERT.replace('INSERT', 'INSERT IGNORE'))).toMatchObject({
      numberOfRecordsUpdated: 0,
      generatedFields: [],
    });
    expect(await again(`${INSERT} ON DUPLICATE KEY UPDATE name = 'C'`)).toMatchObject({ numberOfRecordsUpdated: 2 });
    await api.batch(INSERT, [person('D', 'd'), person('E', 'e')]);
    const page = [long('limit', 1), long('offset', 1)];
    expect(await rowsOf('SELECT name FROM people ORDER BY name LIMIT :limit OFFSET :offset', page)).toEqual([
      { name: 'D' },
    ]);
  });

  it('name tables after functions, and find the server in its own mode', async () => {
    await api.run('CREATE TABLE position (id INT)');
    expect(await api.run('INSERT INTO position (id) VALUES (1)')).toMatchObject({ numberOfRecordsUpdated: 1 });
    await api.run('DROP TABLE position');
    expect(await rowsOf('SELECT @@SESSION.sql_mode = @@GLOBAL.sql_mode AS same')).toEqual([{ same: 1 }]);
  });

  it('read the schema', async () => {
    const columns = await rowsOf(
      'SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE table_schema = :schema AND table_name = :table ORDER BY ordinal_position',
      [text('schema', api.database), text('table', 'notes')],
    );
    expect(columns).toEqual(['id', 'person_id'].map((name) => ({ name, type: 'int' })));
    expect((await rowsOf('SHOW TABLES')).map((row) => Object.values(row)[0])).toEqual(['notes', 'people']);
    const created = (await rowsOf('SHOW CREATE TABLE notes'))[0] ?? {};
    expect(Object.values(created)).toEqual(['notes', expect.stringContaining('CREATE TABLE')]);
    expect((await rowsOf('DESCRIBE notes'))[0]).toMatchObject({ Field: 'id', Null: 'NO' });
  });

  it('get an answer to each of many calls at once', async () => {
    const numbers = Array.from({ length: 60 }, (_, index) => index);
    const answers = await Promise.all(numbers.map((n) => api.run('SELECT :n', { parameters: [long('n', n)] })));
    expect(answers.map((answer) => onlyRow(answer)[0])).toEqual(numbers.map((longValue) => ({ longValue })));
  });

  const CHILD = 'Cannot add or update a child row: a foreign key constraint fails';
  const OWN = "SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 30001, MESSAGE_TEXT = 'one of our own'";
  it.each([
    ["INSERT INTO people (name, email) VALUES ('x', 'taken')", 'Duplicate entry', 1062, '23000'],
    ['INSERT INTO notes (person_id) VALUES (9999)', CHILD, 1452, '23000'],
    ["INSERT INTO people (name, email) VALUES (NULL, 'x')", "Column 'name' cannot be null", 1048, '23000'],
    ['SELECT * FROM nowhere', "doesn't exist", 1146, '42S02'],
    ['SELECT nothing FROM people', 'Unknown column', 1054, '42S22'],
    ['SELEC * FROM people', 'You have an error in your SQL syntax', 1064, '42000'],
    [OWN, 'one of our own', 30_001, '45000'],
    ["INSERT INTO people (name, email) VALUES (REPEAT('x', 300), 'x')", 'Data too long', 1406, '22001'],
  ])('tell errors apart by their text: %s', async (sql, message, errno, sqlState) => {
    await api.run(INSERT, { parameters: person('x', 'taken') });
    await expect(api.run(sql)).rejects.toMatchObject({
      name: 'DatabaseErrorException',
      $metadata: expect.objectContaining({ httpStatusCode: 400 }),
      message: expect.stringMatching(new RegExp(`${message}.*; Error code: ${errno}; SQLState: ${sqlState}$`, 's')),
    });
  });
});

import type { ColumnMetadata, SqlParameter } from '@aws-sdk/client-rds-data';
import { beforeEach, describe, expect, it } from 'vitest';
import { failure, long, onlyRow, dataApiOfTests, TARGET, text } from './with-data-api.ts';

const api = await dataApiOfTests(`CREATE TABLE every (
    id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY,
    flag TINYINT(1), truth BOOLEAN, tiny TINYINT, tiny_u TINYINT UNSIGNED, small SMALLINT, medium MEDIUMINT UNSIGNED, whole INT, whole_u INT UNSIGNED,
    big BIGINT, big_u BIGINT UNSIGNED, f FLOAT, d DOUBLE, price DECIMAL(12, 4), units DECIMAL(12, 0), bit1 BIT, bits BIT(12),
    name VARCHAR(100), code CHAR(4), note TINYTEXT, body TEXT, story MEDIUMTEXT, book LONGTEXT, exact VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    raw VARBINARY(64), fixed BINARY(4), tinyblob_ TINYBLOB, blob_ BLOB, mediumblob_ MEDIUMBLOB, longblob_ LONGBLOB,
    day DATE, clock TIME, moment DATETIME, precise DATETIME(6), stamp TIMESTAMP NULL, year_ YEAR,
    document JSON, size ENUM('small', 'large'), tags SET('a', 'b')
  )`);
beforeEach(async () => {
  await api.run('DELETE FROM every');
});

/** Puts a value into a column and reads it back. */
async function roundTrip(column: string, parameter: SqlParameter): Promise<unknown> {
  await api.run('DELETE FROM every');
  await api.run(`INSERT INTO every (${column}) VALUES (:value)`, { parameters: [{ ...parameter, name: 'value' }] });
  return onlyRow(await api.run(`SELECT ${column} FROM every`))[0];
}

const STRANGE = `'quoted' "twice" \\ :a ? \n\t\0 世界 🌍`;
const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);

describe('a value through a column', () => {
  it.each<[column: string, value: object, wanted: object]>([
    ['flag', { longValue: 1 }, { booleanValue: true }],
    ['flag', { longValue: 5 }, { booleanValue: true }],
    ['truth', { booleanValue: true }, { booleanValue: true }],
    ['tiny', { longValue: -128 }, { longValue: -128 }],
    ['small', { longValue: 32_767 }, { longValue: 32_767 }],
    ['medium', { longValue: 16_777_215 }, { longValue: 16_777_215 }],
    ['whole', { longValue: -2_147_483_648 }, { longValue: -2_147_483_648 }],
    ['whole_u', { longValue: 4_294_967_295 }, { longValue: 4_294_967_295 }],
    ['big', { longValue: -9_007_199_254_740_991 }, { longValue: -9_007_199_254_740_991 }],
    ['big_u', { stringValue: '18446744073709551615' }, { stringValue: '18446744073709551615' }],
    ['f', { doubleValue: 1.2345 }, { doubleValue: 1.2345 }],
    ['d', { doubleValue: 1.7976931348623157e100 }, { doubleValue: 1.7976931348623157e100 }],
    ['price', { doubleValue: 123_456.789 }, { stringValue: '123456.7890' }],
    ['price', { stringValue: '99999999.9999' }, { stringValue: '99999999.9999' }],
    ['units', { longValue: 12 }, { stringValue: '12' }],
    ['bit1', { booleanValue: true }, { booleanValue: true }],
    ['bit1', { longValue: 0 }, { booleanValue: false }],
    ['bits', { longValue: 0x0f0a }, { blobValue: bytes(0x0f, 0x0a) }],
    ['name', { stringValue: '' }, { stringValue: '' }],
    ['name', { stringValue: STRANGE }, { stringValue: STRANGE }],
    ['code', { stringValue: 'ab' }, { stringValue: 'ab' }],
    ['book', { stringValue: 'B'.repeat(60_000) }, { stringValue: 'B'.repeat(60_000) }],
    ['raw', { blobValue: bytes(0, 1, 2, 255) }, { blobValue: bytes(0, 1, 2, 255) }],
    ['fixed', { blobValue: bytes(1) }, { blobValue: bytes(1, 0, 0, 0) }],
    ['blob_', { blobValue: bytes() }, { blobValue: bytes() }],
    ['longblob_', { blobValue: bytes(0x27, 0x5c, 0x3a) }, { blobValue: bytes(0x27, 0x5c, 0x3a) }],
    ['day', { stringValue: '2024-12-25' }, { stringValue: '2024-12-25' }],
    ['clock', { stringValue: '14:30:45' }, { stringValue: '14:30:45' }],
    ['moment', { stringValue: '2024-12-25 14:30:45' }, { stringValue: '2024-12-25 14:30:45' }],
    ['precise', { stringValue: '2024-12-25 14:30:45.123456' }, { stringValue: '2024-12-25 14:30:45.123456' }],
    ['stamp', { stringValue: '2024-01-15 10:20:30' }, { stringValue: '2024-01-15 10:20:30' }],
    ['year_', { longValue: 2024 }, { stringValue: '2024' }],
    ['size', { stringValue: 'large' }, { stringValue: 'large' }],
    ['tags', { stringValue: 'a,b' }, { stringValue: 'a,b' }],
    ['name', { isNull: true }, { isNull: true }],
    ['document', { isNull: true }, { isNull: true }],
  ])('%s %o', async (column, value, wanted) => {
    expect(await roundTrip(column, { value } as SqlParameter)).toEqual(wanted);
  });

  it('JSON comes back as its text', async () => {
    const document = { quote: `'"\\`, city: '世界 🌍', lines: 'a\nb', list: [1, 'two', { three: 3 }] };
    const field = Object(await roundTrip('document', text('value', JSON.stringify(document))));
    expect(JSON.parse(field.stringValue)).toEqual(document);
  });

  it('is all 64 bits of an integer, for clients that can read them', async () => {
    const body = JSON.stringify({
      ...TARGET,
      database: api.database,
      sql: 'SELECT :v, -9223372036854775808',
      parameters: [{ name: 'v', value: { longValue: 1 } }],
    });
    const response = await fetch(`${api.url}/Execute`, {
      method: 'POST',
      body: body.replace('"longValue":1', '"longValue":9223372036854775807'),
    });
    expect(await response.text()).toContain('[{"longValue":9223372036854775807},{"longValue":-9223372036854775808}]');
  });
});

describe('type hints', () => {
  const UUID = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
  it.each([
    ['day', '2024-02-29', 'DATE', '2024-02-29'],
    ['clock', '23:59:59', 'TIME', '23:59:59'],
    ['precise', '2024-02-29 23:59:59.123', 'TIMESTAMP', '2024-02-29 23:59:59.123000'],
    ['price', '12.5', 'DECIMAL', '12.5000'],
    ['name', UUID, 'UUID', UUID],
    ['document', '[1]', 'JSON', '[1]'],
  ] as const)('%s %s, a %s', async (column, value, hint, wanted) => {
    expect(await roundTrip(column, text('value', value, hint))).toEqual({ stringValue: wanted });
  });

  it('a decimal is a number to the server, a string is not', async () => {
    const sum = (parameter: SqlParameter) =>
      api.run("SELECT CAST(JSON_EXTRACT(JSON_ARRAY(:v), '$[0]') AS CHAR)", { parameters: [parameter] });
    expect(onlyRow(await sum(text('v', '0.10', 'DECIMAL')))).toEqual([{ stringValue: '0.10' }]);
    expect(onlyRow(await sum(text('v', '0.10')))).toEqual([{ stringValue: '"0.10"' }]);
  });

  it.each([
    ['DATE', '29.2.2024'],
    ['TIME', 'noon'],
    ['TIMESTAMP', '2024-02-29T23:59:59'],
    ['DECIMAL', '1); DROP TABLE every'],
    ['UUID', 'x'],
  ] as const)('%s refuses %s', async (typeHint, value) => {
    await expect(api.run('SELECT :v', { parameters: [text('v', value, typeHint)] })).rejects.toMatchObject(
      failure('ValidationException', expect.stringContaining(typeHint)),
    );
  });
});

describe('results', () => {
  it('of expressions', async () => {
    const row = onlyRow(await api.run(`SELECT 42, 3.14, 1e0, 'text', NULL, COUNT(*), NOW() FROM every WHERE id = 0`));
    const time = { stringValue: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/) };
    const [number, decimal] = [{ longValue: 42 }, { stringValue: '3.14' }];
    const rest = [{ doubleValue: 1 }, { stringValue: 'text' }, { isNull: true }, { longValue: 0 }, time];
    expect(row).toEqual([number, decimal, ...rest]);
  });

  it('with integers as strings, and decimals as numbers', async () => {
    await api.run('INSERT INTO every (big, price, units) VALUES (9223372036854775807, 1.5, 3)');
    const options = { resultSetOptions: { longReturnType: 'STRING', decimalReturnType: 'DOUBLE_OR_LONG' } } as const;
    expect(onlyRow(await api.run('SELECT big, price, units FROM every', options))).toEqual([
      { stringValue: '9223372036854775807' },
      { doubleValue: 1.5 },
      { longValue: 3 },
    ]);
  });

  it('without rows are an empty list', async () => {
    const { $metadata, ...answer } = await api.run('SELECT id FROM every');
    expect(answer).toEqual({ records: [], numberOfRecordsUpdated: 0 });
    expect($metadata.httpStatusCode).toBe(200);
  });

  it('as JSON are one text, without records and metadata', async () => {
    await api.run(
      "INSERT INTO every (flag, whole, price, d, raw, day, document) VALUES (1, 2, 3.5, 4.5, X'0102', '2024-01-02', '{\"a\": 1}')",
    );
    const answer = await api.run('SELECT flag, whole AS n, price, d, raw, day, name FROM every', {
      formatRecordsAs: 'JSON',
      includeResultMetadata: true,
    });
    expect(JSON.parse(answer.formattedRecords ?? '')).toEqual([
      { flag: true, n: 2, price: '3.5000', d: 4.5, raw: 'AQI=', day: '2024-01-02', name: null },
    ]);
    expect(answer).not.toHaveProperty('records');
    expect(answer).not.toHaveProperty('columnMetadata');
    const change = await api.run("UPDATE every SET name = 'x'", { formatRecordsAs: 'JSON' });
    expect(change).toMatchObject({ numberOfRecordsUpdated: 1, generatedFields: [] });
  });

  it('of a type that the API does not know are refused, and can be cast', async () => {
    await expect(api.run('SELECT POINT(1, 2)')).rejects.toMatchObject(
      failure('UnsupportedResultException', 'The result contains the unsupported data type GEOMETRY'),
    );
    expect(onlyRow(await api.run('SELECT ST_AsText(POINT(1, 2))'))).toEqual([{ stringValue: 'POINT(1 2)' }]);
  });

  it('of statements without rows count them, and carry what was generated', async () => {
    const insert = await api.run("INSERT INTO every (name) VALUES ('a'), ('b')");
    expect(insert).toMatchObject({ numberOfRecordsUpdated: 2, generatedFields: [{ longValue: expect.any(Number) }] });
    expect(insert).not.toHaveProperty('records');
    expect(await api.run("UPDATE every SET name = 'c' WHERE name = 'b'")).toMatchObject({
      numberOfRecordsUpdated: 1,
      generatedFields: [],
    });
    // Rows that match count, changed or not, as they do for JDBC.
    expect(await api.run("UPDATE every SET name = 'c' WHERE name = 'c'")).toMatchObject({ numberOfRecordsUpdated: 1 });
    expect(await api.run('DELETE FROM every')).toMatchObject({ numberOfRecordsUpdated: 2, generatedFields: [] });
    expect(await api.run('CREATE TABLE IF NOT EXISTS other (id INT)')).toMatchObject({
      numberOfRecordsUpdated: 0,
      generatedFields: [],
    });
  });

  it('carry what LAST_INSERT_ID was told', async () => {
    await api.run('CREATE TABLE numbered (id BIGINT UNSIGNED PRIMARY KEY)');
    expect(await api.run('INSERT INTO numbered SELECT LAST_INSERT_ID(41 + 1)')).toMatchObject({
      generatedFields: [{ longValue: 42 }],
      numberOfRecordsUpdated: 1,
    });
  });
});

describe('column metadata', () => {
  const metadata = async (columns: string): Promise<ColumnMetadata[]> =>
    (await api.run(`SELECT ${columns} FROM every`, { includeResultMetadata: true })).columnMetadata ?? [];

  it('is there when asked for', async () => {
    expect(await api.run('SELECT id FROM every')).not.toHaveProperty('columnMetadata');
    expect(await metadata('id AS number')).toEqual([
      {
        arrayBaseColumnType: 0,
        isAutoIncrement: true,
        isCaseSensitive: false,
        isCurrency: false,
        isSigned: false,
        label: 'number',
        name: 'id',
        nullable: 0,
        precision: 20,
        scale: 0,
        schemaName: '',
        tableName: 'every',
        type: -5,
        typeName: 'BIGINT UNSIGNED',
      },
    ]);
  });

  it('names the types of columns, JSON on both engines', async () => {
    const types = `
      tiny TINYINT, small SMALLINT, medium MEDIUMINT UNSIGNED, whole INT, whole_u INT UNSIGNED, big BIGINT, f FLOAT, d DOUBLE,
      price DECIMAL, bits BIT, name VARCHAR, code CHAR, note TINYTEXT, body TEXT, story MEDIUMTEXT, book LONGTEXT, raw VARBINARY,
      fixed BINARY, tinyblob_ TINYBLOB, blob_ BLOB, mediumblob_ MEDIUMBLOB, longblob_ LONGBLOB, day DATE, clock TIME,
      moment DATETIME, stamp TIMESTAMP, year_ YEAR, document JSON, size ENUM, tags SET`
      .trim()
      .split(/,\s+/u);
    const names = types.map((type) => type.split(' ')[0]);
    expect((await metadata(names.join(', '))).map(({ name, typeName }) => `${name} ${typeName}`)).toEqual(types);
  });

  it('tells JSON from text behind an alias, a join and a view', async () => {
    await api.run('CREATE VIEW documents AS SELECT id, document AS shown, book FROM every');
    const { columnMetadata } = await api.run(
      'SELECT shown AS once_more, documents.book FROM documents JOIN every USING (id)',
      { includeResultMetadata: true },
    );
    expect(columnMetadata?.map(({ label, typeName }) => [label, typeName])).toEqual([
      ['once_more', 'JSON'],
      ['book', 'LONGTEXT'],
    ]);
  });

  it('knows precision, scale, sign and case', async () => {
    const [price, name, exact, moment, whole] = await metadata('price, name, exact, moment, whole_u');
    expect(price).toMatchObject({ precision: 12, scale: 4, isSigned: true, type: 3, nullable: 1 });
    expect(name).toMatchObject({ precision: 100, isCaseSensitive: false, isSigned: false, type: 12 });
    expect(exact).toMatchObject({ precision: 10, isCaseSensitive: true });
    expect(moment).toMatchObject({ precision: 19, type: 93 });
    expect(whole).toMatchObject({ precision: 10, isSigned: false, type: 4 });
  });

  it('counts the sign among the digits of an integer', async () => {
    expect((await metadata('tiny, small, whole, whole_u, big, id, f, d')).map(({ precision }) => precision)).toEqual([
      4, 6, 11, 10, 20, 20, 12, 22,
    ]);
  });
});

describe('batches', () => {
  it('run a statement for each set, and give what each generated', async () => {
    const row = (name: string, whole: number) => {
      const raw = { name: 'raw', value: { blobValue: bytes(whole) } };
      return [text('name', name), long('whole', whole), raw];
    };
    const insert = 'INSERT INTO every (name, whole, raw) VALUES (:name, :whole, :raw)';
    const { updateResults } = await api.batch(insert, [row('a', 1), row('b', 2)]);
    const [first, second] = (updateResults ?? []).map(({ generatedFields }) => generatedFields?.[0]?.longValue ?? 0);
    expect(first).toBeGreaterThan(0);
    expect(second).toBe((first ?? 0) + 1);
    const names = ['a', 'b'].map((name) => [text('name', name)]);
    const updated = await api.batch('UPDATE every SET whole = whole + 1 WHERE name = :name', names);
    expect(updated.updateResults).toEqual([{ generatedFields: [] }, { generatedFields: [] }]);
    expect((await api.run('SELECT whole, raw FROM every ORDER BY id')).records).toEqual(
      [1, 2].map((one) => [{ longValue: one + 1 }, { blobValue: bytes(one) }]),
    );
  });

  it('without sets run nothing, whatever the statement', async () => {
    expect((await api.batch('NOT SQL')).updateResults).toEqual([]);
    expect((await api.batch("INSERT INTO every (name) VALUES ('once')", [[], []])).updateResults).toHaveLength(2);
  });

  it('outside of a transaction keep what was done before an error', async () => {
    await api.run('CREATE TABLE single (id INT PRIMARY KEY)');
    const sets = [1, 1, 2].map((id) => [long('id', id)]);
    const duplicate = expect.stringMatching(/^Duplicate entry '1' for key .*; Error code: 1062; SQLState: 23000$/);
    await expect(api.batch('INSERT INTO single VALUES (:id)', sets)).rejects.toMatchObject(
      failure('DatabaseErrorException', duplicate),
    );
    expect((await api.run('SELECT id FROM single')).records).toEqual([[{ longValue: 1 }]]);
  });

  it('take no statement that gives rows', async () => {
    await expect(api.batch('SELECT 1', [[]])).rejects.toMatchObject(failure('ValidationException'));
  });
});

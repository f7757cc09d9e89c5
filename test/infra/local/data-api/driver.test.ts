import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ExecuteStatementCommand } from '@aws-sdk/client-rds-data';
import type { RowDataPacket } from 'mysql2';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startDataApi } from '../../../../infra/local/data-api/data-api.ts';
import { sharedConnection } from '../../../support/connection-to.ts';
import { dataApiSdk } from '../../../support/data-api-sdk.ts';
import { startRelay } from '../../../support/relay.ts';
import { dataApiOfTests, serverLogin, TARGET } from './with-data-api.ts';

const api = await dataApiOfTests();
const { run, database } = api;
const connection = await sharedConnection();
const LONG_MAX = 2n ** 63n - 1n;

/** Sends a statement past the SDK, which rounds integers beyond 2^53. */
async function textOf(sql: string, longReturnType = 'LONG'): Promise<string> {
  const body = JSON.stringify({ ...TARGET, sql, resultSetOptions: { longReturnType } });
  return (await fetch(`${api.url}/Execute`, { method: 'POST', body })).text();
}

it('returns a value for each column, whatever the labels, alike or not', async () => {
  const strange = [
    '__proto__',
    '__defineGetter__',
    'constructor',
    "it's",
    '\\"${1}',
    '/* */ --',
    '世界',
    '0',
    'a'.repeat(64),
  ];
  const labels = [...strange, ...strange, 'a', 'A', ''];
  const { records } = await run(`SELECT ${labels.map((label, at) => `${at} AS \`${label}\``).join(', ')}`);
  expect(records).toEqual([labels.map((_, longValue) => ({ longValue }))]);
  const table = `${database}.labels`;
  await run(`CREATE TABLE ${table} (${strange.map((label) => `\`${label}\` INT DEFAULT 7`).join(', ')})`);
  await run(`INSERT INTO ${table} () VALUES ()`);
  expect((await run(`SELECT b.*, a.__proto__ FROM ${table} AS a, ${table} AS b`)).records).toEqual([
    Array.from({ length: strange.length + 1 }, () => ({ longValue: 7 })),
  ]);
});

it('returns the first result that has rows, also of labelled blocks, and refuses those in a call', async () => {
  const name = `${database}.made`;
  await run(`CREATE PROCEDURE ${name}_empty() twice: BEGIN END twice`);
  expect(await run(`CALL ${name}_empty()`)).toMatchObject({ numberOfRecordsUpdated: 0 });
  const body = 'a: BEGIN DO 1; b: BEGIN SELECT 1 AS __proto__, 2; END b; SELECT 3 AS a, 4 AS a, 5; SELECT 6; END a';
  await connection.query(`CREATE PROCEDURE ${name}() ${body}`);
  expect((await run(`CALL ${name}()`)).records).toEqual([[{ longValue: 1 }, { longValue: 2 }]]);
  await expect(run(`CREATE PROCEDURE ${name}_2() ${body}`)).rejects.toThrow("Multistatements aren't supported.");
  await expect(run(`CREATE PROCEDURE ${name}_3() a: BEGIN a: BEGIN END a END a`)).rejects.toThrow('Error code: 1309');
});

it.each([LONG_MAX - 1n, LONG_MAX, LONG_MAX + 1n, 2n ** 64n - 3n])(
  'returns all digits of %d, or an exception',
  async (id) => {
    const [table, isLong] = [`${database}.ids_${id}`, id <= LONG_MAX];
    await run(`CREATE TABLE ${table} (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = ${id}`);
    const refused = `Value '${id}' is outside of valid range for type java.lang.Long`;
    expect(await textOf(`INSERT INTO ${table} VALUES (NULL)`)).toContain(isLong ? `[{"longValue":${id}}]` : refused);
    expect(await textOf(`SELECT id FROM ${table}`)).toContain(isLong ? `[[{"longValue":${id}}]]` : refused);
    expect(await textOf(`SELECT id FROM ${table}`, 'STRING')).toContain(`[[{"stringValue":"${id}"}]]`);
    expect(await textOf(`SELECT -${LONG_MAX} AS a`)).toContain(`[[{"longValue":-${LONG_MAX}}]]`);
  },
);

const require = createRequire(import.meta.url);
const inDriver = (path: string): { readonly prototype: Record<string, () => unknown> } =>
  require(join(require.resolve('mysql2'), '../lib', path));
const PACKET = inDriver('packets/packet.js');

it.each([
  ['a row', PACKET, 'readLengthCodedBuffer'],
  ['the columns', PACKET, 'readInt16'],
  ['the header of a result', PACKET, 'readLengthCodedNumber'],
  ['the end of the columns', PACKET, 'isEOF'],
  ['an error', PACKET, 'asError'],
  ['nothing yet', inDriver('base/connection.js'), 'writePacket'],
])('answers at once when the driver fails with %s', async (what, { prototype }, method) => {
  await run('SELECT 1');
  const spy = vi.spyOn(prototype, method).mockImplementationOnce(() => {
    throw new Error('The driver broke');
  });
  onTestFinished(() => spy.mockRestore());
  const call = run(what === 'an error' ? 'SELECT nothing' : 'SELECT 1 AS a UNION SELECT 2');
  await expect(call).rejects.toMatchObject({ name: 'InternalServerErrorException', message: 'The driver broke' });
  expect((await run('SELECT 2 AS a')).records).toEqual([[{ longValue: 2 }]]);
});

it('answers at once when the server is lost during a statement', async () => {
  await using relay = await startRelay({ to: serverLogin });
  const other = await startDataApi({ login: () => ({ ...serverLogin(), ...relay.endpoint }) });
  const client = dataApiSdk(other.url);
  onTestFinished(async () => {
    client.destroy();
    await other.stop();
  });
  const sql = `SELECT SLEEP(1000) AS \`${database}\``;
  const call = client.send(new ExecuteStatementCommand({ ...TARGET, sql }));
  const lost = call.catch((error: unknown) => error);
  const processes = async () => {
    const [rows] = await connection.query<RowDataPacket[]>(
      'SELECT id FROM information_schema.processlist WHERE info = ?',
      [sql],
    );
    return rows.map((row) => Number(Object.values(row)[0]));
  };
  await expect.poll(processes).toHaveLength(1);
  relay.cut();
  expect(await lost).toMatchObject({ name: 'DatabaseUnavailableException' });
  // The server does not notice the loss while it sleeps.
  for (const id of await processes()) await connection.query('KILL ?', [id]);
});

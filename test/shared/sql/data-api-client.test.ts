import { afterEach, describe, expect, it } from 'vitest';
import { SqlError } from '../../../shared/sql/client.ts';
import { dataApiClient } from '../../../shared/sql/data-api-client.ts';
import { toDataApiError } from '../../../shared/sql/data-api-error.ts';
import { namedParameters } from '../../../shared/sql/named-parameters.ts';
import { dataApiOfTests, TARGET } from '../../infra/local/data-api/with-data-api.ts';
import { sql } from '../../support/plain-sql.ts';

const api = await dataApiOfTests();
await api.run(`CREATE TABLE ${api.database}.done (id INT NOT NULL)`);
afterEach(() => api.faults.clear());

const client = (waitMs = 5000) => dataApiClient(api.client, TARGET, { waitMs });
const insert = (id: number) => sql(`INSERT INTO ${api.database}.done (id) VALUES (?)`, id);
const times = async (id: number) =>
  Number((await client().select(sql(`SELECT COUNT(*) FROM ${api.database}.done WHERE id = ?`, id), 'writer'))[0]?.[0]);

describe('a call that was refused before anything was done', () => {
  it.each(['resuming', 'throttled'] as const)('%s: is repeated until it is let in', async (kind) => {
    const happened = api.faults.happened(kind);
    api.faults.set({ kind, count: 3 });
    expect(await client().change(insert(1))).toMatchObject({ affectedRows: 1 });
    expect(api.faults.happened(kind)).toBe(happened + 3);
  });

  it.each(['resuming', 'throttled'] as const)(
    '%s: fails as one that was not done, once the time is over',
    async (kind) => {
      api.faults.set({ kind, share: 1 });
      await expect(client(250).change(insert(2))).rejects.toMatchObject({ failure: 'unreachable' });
      api.faults.clear();
      expect(await times(2)).toBe(0);
    },
  );
});

describe('a call that may have done something', () => {
  it('whose connection was cut after the commit is unclear, and was made once', async () => {
    api.faults.set({ kind: 'cut-after-commit', count: 1 });
    await expect(client().change(insert(3))).rejects.toMatchObject({ failure: 'unclear' });
    expect(await times(3)).toBe(1);
  });

  it('whose writer was not available is unclear, and is not repeated', async () => {
    api.faults.set({ kind: 'unavailable', share: 1 });
    await expect(client().change(insert(4))).rejects.toMatchObject({ failure: 'unclear' });
    expect(api.faults.happened('unavailable')).toBe(1);
  });
});

describe('what the Data API does not take', () => {
  it('is refused before it is sent, with its size', async () => {
    const long = client().select(sql(`SELECT '${'x'.repeat(70_000)}'`), 'writer');
    await expect(long).rejects.toMatchObject({
      failure: 'rejected',
      message: expect.stringMatching(/a statement of 70009 characters: .* 65536 at most/),
    });
    const large = client().select(sql('SELECT LENGTH(?)', Buffer.alloc(3_200_000)), 'writer');
    await expect(large).rejects.toMatchObject({
      failure: 'rejected',
      message: expect.stringMatching(/a request of \d+ bytes, its values in base64: .* at most/),
    });
  });

  it('that fits is taken, to the last bytes', async () => {
    expect(String((await client().select(sql('SELECT LENGTH(?)', Buffer.alloc(3_100_000)), 'writer'))[0]?.[0])).toBe(
      '3100000',
    );
  });

  it('a row or a result that is too large is an error that says so, and no later call sees anything of it', async () => {
    await expect(client().select(sql('SELECT REPEAT(?, 70000)', 'x'), 'writer')).rejects.toBeInstanceOf(SqlError);
    const rows = Array.from({ length: 20 }, () => 'SELECT REPEAT(?, 60000)').join(' UNION ALL ');
    await expect(
      client().select(
        sql(rows, ...Array.from({ length: 20 }, (_, position) => String.fromCodePoint(65 + position))),
        'writer',
      ),
    ).rejects.toMatchObject({ failure: 'rejected' });
    expect(await client().select(sql('SELECT 1'), 'writer')).toEqual([['1']]);
  });
});

it('named parameters are as many as there are places', () => {
  expect(() => namedParameters(sql('SELECT ?, ?', 1))).toThrow('a statement of 2 values: wanted as many, got 1');
});

const LINK = 'Communications link failure\n\nThe last packet sent successfully to the server was 0 milliseconds ago.';

describe('errors of a cluster that is not ready say that nothing was done', () => {
  it.each([
    ['DatabaseNotFoundException', 'the cluster has no instance', 'unreachable'],
    ['InvalidResourceStateException', 'the cluster is being modified', 'unreachable'],
    ['HttpEndpointNotEnabledException', 'HttpEndpoint is not enabled', 'unreachable'],
    ['SecretsErrorException', 'no secret', 'unreachable'],
    ['BadRequestException', `${LINK} The driver has not received any packets from the server.`, 'unreachable'],
    // The statement may have been sent.
    ['BadRequestException', `${LINK} The last packet received was 12 milliseconds ago.`, 'unclear'],
    ['BadRequestException', 'Unknown parameter', 'rejected'],
    ['AccessDeniedException', 'not authorized to perform rds-data:ExecuteStatement', 'rejected'],
  ])('%s: %s', (name, message, failure) => {
    expect(toDataApiError(Object.assign(new Error(message), { name }), false)).toMatchObject({ failure, errno: 0 });
  });
});

describe('errors whose number the service leaves out', () => {
  it.each([
    ["Duplicate entry 'x' for key 'entity.cell'", 'duplicate', 1062],
    ["Duplicate entry 'Deadlock found when trying to get lock' for key 'cell'", 'duplicate', 1062],
    ['Deadlock found when trying to get lock; try restarting transaction', 'contention', 1213],
    ['Lock wait timeout exceeded; try restarting transaction', 'contention', 1205],
    ["Table 'a.b' doesn't exist", 'rejected', 1146],
    [
      'The MySQL server is running with the --read-only option so it cannot execute this statement',
      'unreachable',
      1290,
    ],
    ['something new', 'rejected', 0],
  ])('%s', (message, failure, errno) => {
    expect(toDataApiError(Object.assign(new Error(message), { name: 'DatabaseErrorException' }), false)).toMatchObject({
      failure,
      errno,
    });
  });
});

import { describe, expect, it } from 'vitest';
import { duplicateKey, toSqlError } from '../../../shared/sql/mysql-error.ts';
import { quoteName } from '../../../shared/sql/names.ts';

describe('duplicateKey', () => {
  it.each([
    ["Duplicate entry 'x-BASE-1' for key 'cell'", 'cell'],
    ["Duplicate entry 'x-BASE-1' for key 'entity.cell'", 'cell'],
    ["Duplicate entry '7' for key 'PRIMARY'", 'PRIMARY'],
    ["Duplicate entry '7' for key 'entity.PRIMARY'", 'PRIMARY'],
    ["Duplicate entry 'x-a' for key 'cell'-1' for key 'PRIMARY'", 'PRIMARY'],
    ["Duplicate entry 'x-' for key 'entity.PRIMARY' -1' for key 'entity.cell'", 'cell'],
    ['Something else', ''],
  ])('of %s is %s: only the end of the message counts', (message, key) => {
    expect(duplicateKey(message)).toBe(key);
  });
});

describe('toSqlError', () => {
  it.each([
    [{ code: 'ER_DUP_ENTRY', errno: 1062 }, 'duplicate'],
    [{ code: 'ER_LOCK_DEADLOCK', errno: 1213 }, 'contention'],
    [{ code: 'ER_LOCK_WAIT_TIMEOUT', errno: 1205 }, 'contention'],
    [{ code: 'ER_PARSE_ERROR', errno: 1064 }, 'rejected'],
    [{ code: 'ER_CON_COUNT_ERROR', errno: 1040 }, 'unreachable'],
    [{ code: 'ER_OPTION_PREVENTS_STATEMENT', errno: 1290 }, 'unreachable'],
    [{ code: 'ER_SERVER_SHUTDOWN', errno: 1053 }, 'unclear'],
    [{ code: 'PROTOCOL_CONNECTION_LOST' }, 'unclear'],
    // RDS Proxy's own, for which the driver has no name: the database has had nothing of it.
    [{ errno: 9501, sqlState: 'HY000' }, 'unreachable'],
    // The system's own numbers are no answers of the server: ECONNRESET is 104.
    [{ code: 'ECONNRESET', errno: -104 }, 'unclear'],
  ])('sorts %o as %s once the statement was sent', (error, failure) => {
    expect(toSqlError(Object.assign(new Error('x'), error), true).failure).toBe(failure);
  });

  it('knows that what was never sent was not done', () => {
    expect(toSqlError(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), false).failure).toBe('unreachable');
    expect(toSqlError(Object.assign(new Error('x'), { code: 'ETIMEDOUT' }), false).failure).toBe('unreachable');
  });
});

describe('quoteName', () => {
  it('takes names of our own making and refuses all others', () => {
    expect(quoteName('trips_0233')).toBe('`trips_0233`');
    for (const name of ['', 'a`b', 'mysql.user', 'Trips', '1a', 'a-b', 'a b', `a${'b'.repeat(64)}`, 'ä'])
      expect(() => quoteName(name)).toThrow(/name in SQL/);
  });
});

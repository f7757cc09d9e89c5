import { expect, it } from 'vitest';
import { logger } from '../../../functions/environment/log.ts';
import { SqlError } from '../../../shared/sql/client.ts';
import { keepLogLines } from '../support/log-lines.ts';

const { messages, text } = keepLogLines();

it('the log has of errors and their causes what is listed alone, so that no driver and no SDK puts SQL there', () => {
  const cause = Object.assign(new Error('refused'), { code: 'ER_X', sql: 'INSERT sEcReT', Item: { a: 'sEcReT' } });
  const error = new SqlError('rejected', 'refused', { errno: 1290, cause });
  logger.warn('primary failed', { event: { kind: 'primary_failed', error } });
  logger.error('failed', { error: cause });
  expect(text()).not.toContain('sEcReT');
  expect(messages()).toMatchObject([
    { event: { error: { name: 'SqlError', failure: 'rejected', errno: 1290, cause: { code: 'ER_X' } } } },
    { error: { name: 'Error', message: 'refused', code: 'ER_X', stack: expect.stringContaining('log.test.ts') } },
  ]);
});

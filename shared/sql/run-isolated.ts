import { createConnection, type ConnectionOptions } from 'mysql2';
import { SqlError, type Statement } from './client.ts';
import { toSqlError } from './mysql-error.ts';

const ISOLATED_MS = 1000;

export function runIsolated<T>(
  options: ConnectionOptions,
  { sql, parameters, withinMs = ISOLATED_MS }: Statement,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const connection = createConnection(options);
    const fail = (error: SqlError): void => {
      clearTimeout(timer);
      connection.destroy();
      reject(error);
    };
    const timer = setTimeout(
      () => fail(new SqlError('unclear', `no answer within ${withinMs} ms`, { timedOut: true })),
      withinMs,
    );
    let isConnected = false;
    connection.on('connect', () => (isConnected = true));
    connection.on('error', (error) => fail(toSqlError(error, isConnected)));
    connection.query({ sql, values: [...parameters] }, (error, result) => {
      if (error) return fail(toSqlError(error, isConnected));
      clearTimeout(timer);
      connection.end();
      resolve(result as T);
    });
  });
}

import { createConnection, type Connection } from 'mysql2/promise';
import type { GroupAccess } from './store-access.ts';

const PATIENCE_SECONDS = 60;

/** Waits for the readers of groups, over its own connections. */
export async function readersOf(groups: readonly GroupAccess[]) {
  const connections = await Promise.all(
    groups.map(({ nodes, user, password }) =>
      Promise.all(nodes.map(({ host, port }) => createConnection({ host, port, user, password }))),
    ),
  );
  async function caughtUp([writer, ...readers]: readonly Connection[]): Promise<void> {
    if (!writer) throw new Error('wanted a writer, got a group without nodes');
    const [[server]] = (await writer.query('SELECT VERSION() AS version')) as unknown as [[{ version: string }]];
    const isMariadb = server.version.includes('MariaDB');
    const at = isMariadb ? '@@global.gtid_binlog_pos' : '@@global.gtid_executed';
    const [[{ place }]] = (await writer.query(`SELECT ${at} AS place`)) as unknown as [[{ place: string }]];
    const wait = isMariadb ? 'MASTER_GTID_WAIT' : 'WAIT_FOR_EXECUTED_GTID_SET';
    await Promise.all(
      readers.map(async (reader) => {
        const [[{ late }]] = (await reader.query(`SELECT ${wait}(?, ?) AS late`, [
          place,
          PATIENCE_SECONDS,
        ])) as unknown as [[{ late: number }]];
        if (late !== 0) throw new Error(`a reader has not what its writer had ${PATIENCE_SECONDS} s ago`);
      }),
    );
  }
  return {
    /** Returns once each has the present data of its writer. Throws after a minute. */
    caughtUp: async () => void (await Promise.all(connections.map(caughtUp))),
    [Symbol.asyncDispose]: async (): Promise<void> =>
      void (await Promise.all(connections.flat().map((connection) => connection.end()))),
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { SqlClient, SqlParameter, Statement } from '../../../shared/sql/client.ts';
import { changing } from '../changed-clients.ts';
import { planOf } from './servers/plans.ts';

/** Bugs of hints: each is a client that sends others, or at other times. */

/** The time that the store waits for an answer. */
const MOST_WAIT_MS = 4000;

/** Delays an insert until that of the same copy on another group has ended. */
export function hintsInTurn(): (client: SqlClient) => SqlClient {
  const under = new Map<string, Promise<unknown>>();
  return changing(async (statement, client) => {
    if (planOf(statement.sql).kind !== 'buffer') return client.change(statement);
    const key = statement.parameters
      .slice(2, 5)
      .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)))
      .join('/');
    const before = under.get(key);
    const done = waited(before).then(() => client.change(statement));
    under.set(key, done);
    return done.finally(() => under.get(key) === done && under.delete(key));
  });
}

/** Waits for it, though its sender may have died. */
async function waited(before: Promise<unknown> | undefined): Promise<void> {
  if (before) await Promise.race([before.catch(() => undefined), sleep(MOST_WAIT_MS)]);
}

/** Gives the writes that a statement names other ids: in an insert every ninth value, in marks those of 8 bytes. */
export function withIds(statement: Statement, idOf: () => Uint8Array): Statement {
  const { kind } = planOf(statement.sql);
  if (!['buffer', 'answer buffered', 'withdraw'].includes(kind)) return statement;
  const isId = (value: SqlParameter, at: number): boolean =>
    kind === 'buffer' ? at % 9 === 8 : at < 4 && value instanceof Uint8Array && value.length === 8;
  return { ...statement, parameters: statement.parameters.map((value, at) => (isId(value, at) ? idOf() : value)) };
}

import { changing, NOTHING } from '../changed-clients.ts';

/** Swallows what takes copies of refused writes back: they stay where they are. A control. */
export const wrap = changing(async (statement, client) =>
  /writers = writers - 1|WHERE writers = 0/.test(statement.sql) ? NOTHING : client.change(statement),
);

import type { Wrap } from '../../support/store-access.ts';

/** Swallows what takes copies of refused writes back: they stay where they are. A control. */
export const wrap: Wrap = (client) => ({
  ...client,
  change: async (statement) =>
    /writers = writers - 1|WHERE writers = 0/.test(statement.sql)
      ? { affectedRows: 0, insertId: 0 }
      : client.change(statement),
});

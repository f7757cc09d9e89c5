/** A mover whose moves leave the shard open on its former group, under its name: a control. */
import { changing } from '../changed-clients.ts';

/** The shard is closed; it has moved; its tables lose their names. */
const LEAVING = [/\.shard SET state = 'moving'/u, /\.shard SET state = 'moved'/u, /^RENAME TABLE `[^`]+(?<!_copy)`\./u];

export const wrap = changing(async (statement, client) =>
  LEAVING.some((pattern) => pattern.test(statement.sql)) ? { affectedRows: 1, insertId: 0 } : client.change(statement),
);

/** A mover that says of each page that it is in the copy, and puts nothing there: a control. */
import { changing } from '../changed-clients.ts';

const INTO_COPY = /^INSERT INTO `[^`]+_copy`\.`entity` /u;

export const wrap = changing(async (statement, client) =>
  INTO_COPY.test(statement.sql) ? { affectedRows: 1, insertId: 0 } : client.change(statement),
);

/** Appends that heed no erasure: a control. */
import type { Statement } from '../../../shared/sql/client.ts';
import type { Wrap } from '../../support/store-access.ts';

const HEEDED = ' AND gone.added_id IS NULL AND past.added_id IS NULL AND lone.added_id IS NULL';

export const wrap: Wrap = (client, varied) => {
  const heedless = (statement: Statement): Statement => {
    if (!statement.sql.includes(HEEDED)) return statement;
    varied();
    return { ...statement, sql: statement.sql.replace(HEEDED, '') };
  };
  return {
    ...client,
    change: (statement) => client.change(heedless(statement)),
    ...(client.transactions && {
      transactions: {
        ...client.transactions,
        run: (statements) =>
          client.transactions ? client.transactions.run(statements.map(heedless)) : Promise.resolve([]),
      },
    }),
  };
};

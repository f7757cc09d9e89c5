import { setTimeout as sleep } from 'node:timers/promises';
import type { SqlChange, SqlClient, SqlParameter, Statement } from '../../../shared/sql/client.ts';
import { Random } from '../../support/random.ts';

/** Changes to writes of index entries: a fault, and the missing protections of controls. */
export interface Variation {
  readonly late: number;
  /** Off: entries are deleted instead of becoming tombstones. */
  readonly tombstones: boolean;
  /** Off: all entries are of epoch 1. */
  readonly epochs: boolean;
}

export const AS_IT_IS: Variation = { late: 0, tombstones: true, epochs: true };

/** Longer than the repair's delay: it has passed the row by then. */
const LATE_MS = [5000, 9000] as const;

/** Stands between the store and its groups, and varies the statements that write entries. */
export function vary(variation: Variation, seed: string) {
  const random = new Random(seed, 'late entries', 0);
  const counts = { entries: 0, late: 0, changed: 0 };
  const late = new Set<Promise<unknown>>();
  let share = variation.late;

  async function put(client: SqlClient, statement: Statement): Promise<SqlChange> {
    const parts = otherwise(statement, variation);
    if (parts[0] !== statement) counts.changed += 1;
    let change: SqlChange = { affectedRows: 0, insertId: 0 };
    for (const part of parts) change = await client.change(part);
    return change;
  }

  return {
    counts,
    setLate: (wanted: number) => void (share = wanted),
    idle: async () => void (await Promise.allSettled(late)),
    wrap: (client: SqlClient): SqlClient => ({
      ...client,
      async change(statement) {
        if (!PUT_ENTRIES.test(statement.sql) && !INSERT_ENTRIES.test(statement.sql)) return client.change(statement);
        counts.entries += 1;
        if (!random.chance(share)) return put(client, statement);
        counts.late += 1;
        const done = sleep(random.between(...LATE_MS)).then(() => put(client, statement));
        late.add(done);
        return done.finally(() => late.delete(done));
      },
    }),
  };
}

/** Table, fields, a row's placeholders, and the text after the rows. */
const PUT_ENTRIES =
  /^INSERT INTO (\S+) \((f0[^)]*), row_key, epoch, added_id, tombstone_at\) VALUES (\([?, ]*, IF\(\?, SYSDATE\(6\), NULL\)\)).*( ON DUPLICATE KEY UPDATE .*)$/su;

/** The same for rows without an entry. */
const INSERT_ENTRIES = /^INSERT INTO \S+ \((f0[^)]*), row_key, epoch, added_id\) VALUES /u;

/** Returns the varied statements: the statement itself if nothing differs. */
function otherwise(statement: Statement, { tombstones, epochs }: Variation): readonly Statement[] {
  const [, inserted] = INSERT_ENTRIES.exec(statement.sql) ?? [];
  if (inserted !== undefined) {
    const last = inserted.split(', ').length + 2;
    const isEpoch = (position: number): boolean => position % (last + 1) === last - 1;
    const parameters = statement.parameters.map((value, position) => (isEpoch(position) ? 1 : value));
    return [epochs ? statement : { ...statement, parameters }];
  }
  const [, table = '', fields = '', row = '', rest = ''] = PUT_ENTRIES.exec(statement.sql) ?? [];
  if (tombstones && epochs) return [statement];
  const width = fields.split(', ').length + 4;
  const rows = Array.from({ length: statement.parameters.length / width }, (_, position) =>
    statement.parameters.slice(position * width, (position + 1) * width),
  );
  const kept = rows
    .filter((parameters) => tombstones || parameters.at(-1) === 0)
    .map((parameters) => (epochs ? parameters : parameters.with(width - 3, 1)));
  const deleted = rows.filter((parameters) => !tombstones && parameters.at(-1) === 1);
  const head = statement.sql.slice(0, statement.sql.indexOf(' VALUES ') + ' VALUES '.length);
  return [
    ...(kept.length > 0 ? [{ sql: `${head}${kept.map(() => row).join(', ')}${rest}`, parameters: kept.flat() }] : []),
    ...deleted.map((parameters) => deleteEntry(table, parameters)),
  ];
}

function deleteEntry(table: string, parameters: readonly SqlParameter[]): Statement {
  const [rowKey = null, epoch = null, addedId = null] = parameters.slice(-4, -1);
  return {
    sql: `DELETE FROM ${table} WHERE f0 = ? AND row_key = ? AND (epoch < ? OR (epoch = ? AND added_id <= ?))`,
    parameters: [parameters[0] ?? null, rowKey, epoch, epoch, addedId],
  };
}

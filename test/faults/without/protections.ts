/** What controls do without: each stands between the store and its groups, in any thread or process. */
import { SqlError, type SqlValue, type Statement, type Target } from '../../../shared/sql/client.ts';
import { forgetWriters, NOBODY, recordWriter } from '../../../shared/sql/statements/record-writer.ts';
import { selectFencedShards, toFencedShards } from '../../../shared/sql/statements/select-fenced-shards.ts';
import type { Wrap } from '../../support/store-access.ts';
import { blamingClient } from './blaming-client.ts';
import { changing, NOTHING, rewording } from '../changed-clients.ts';

/** As a server answers that changed one row. */
const ONE = { affectedRows: 1, insertId: 0 };

/** Says of changes that they are done, and does not do them. */
function swallowing(which: RegExp, answer = NOTHING): Wrap {
  return changing(async (statement, client) => (which.test(statement.sql) ? answer : client.change(statement)));
}

/** The names of a drain's protections, of appends, of moves: what is off then. */
export const PROTECTIONS = {
  /** Unclear ends are failures, as they look to a client that does not try again: nothing was done. */
  secondTry: changing((statement, client) =>
    client.change(statement).catch((error: unknown) => {
      if (error instanceof SqlError && error.failure === 'unclear')
        throw new SqlError('rejected', error.message, { cause: error });
      throw error;
    }),
  ),
  /** Appends leave out nothing: on tables without unique keys each stores its cell once more. */
  leavingOut: rewording((sql) => sql.replace(' AND old.added_id IS NULL', '')),
  /** Copies of refused writes stay where they are. */
  withdrawing: swallowing(/writers = writers - 1|WHERE writers = 0/u),
  /** A drain that takes any body at a row's address for the row's own. */
  comparingBodies: withoutComparing(),
  /** A circuit opens on any time limit. */
  signsOfLife: blamingClient,
  /** Appends check for no erasure. */
  tombstones: withoutTombstones(),
  /** A drain that takes the word of one reader for that of all: the first reader is never asked. */
  everyReader: (client) => {
    const skipping = (target: Target): Target =>
      typeof target === 'object' && target.node > 0 ? { node: target.node + 1 } : target;
    return {
      ...client,
      nodes: client.nodes - 1,
      select: (statement, target) => client.select(statement, skipping(target)),
    };
  },
  /** A drain whose rows go once the writer shows their cells, whatever the readers show. */
  readers: (client) => ({ ...client, nodes: 1 }),
  /** A drain that opens a new writer's shards though nothing was brought back. */
  fence: (client) => ({
    ...client,
    async select(statement, target) {
      const rows = await client.select(statement, target);
      if (statement.sql !== selectFencedShards().sql) return rows;
      for (const { serverId, datastore, shard } of toFencedShards(rows)) {
        await client.change(forgetWriters(datastore, [shard]));
        await client.change(recordWriter({ serverId, instead: NOBODY, isStorageShared: false }, datastore, [shard]));
      }
      return [];
    },
  }),
  /** A mover that leaves the shard open on its former group, under its name. */
  closing: swallowing(/\.shard SET state = 'mov(?:ing|ed)'|^RENAME TABLE `[^`]+(?<!_copy)`\./u, ONE),
  /** A mover that says of each page that it is in the copy, and puts nothing there. */
  copying: swallowing(/^INSERT INTO `[^`]+_copy`\.`entity` /u, ONE),
} satisfies Readonly<Record<string, Wrap>>;

export function withoutIt(protection: keyof typeof PROTECTIONS): string {
  return new URL(`protection.ts?${protection}`, import.meta.url).href;
}

/** Whatever a node has at the address of a waiting row passes for the row's own body. */
function withoutComparing(): Wrap {
  return (client, varied) => {
    const waiting = new Map<string, SqlValue>();
    const hex = (bytes: unknown): string => Buffer.from((bytes ?? []) as Uint8Array).toString('hex');
    const keyOf = (rowKey: unknown, columnName: unknown, refKey: unknown): string =>
      `${hex(rowKey)}/${hex(columnName)}/${String(refKey)}`;
    return {
      ...client,
      async select(statement, target) {
        const { sql } = statement;
        const rows = await client.select(statement, target);
        if (sql.includes("WHERE state = 'waiting' AND datastore = ? AND shard = ? AND id > ?"))
          for (const row of rows) waiting.set(keyOf(row[3], row[4], row[5]), row[6] ?? null);
        if (!sql.includes('UNHEX(SHA2(body, 256))')) return rows;
        varied();
        return rows.map(([list = null, shown = null, ...address]) => [
          list,
          waiting.get(keyOf(...(address as [unknown, unknown, unknown]))) ?? shown,
          ...address,
        ]);
      },
      // Rows are changed by address and hash: by address alone then. One row is named by its columns, several by tuples.
      change: (statement) => {
        const singly = statement.sql.replaceAll('body_hash = ?', '(body_hash = ? OR TRUE)');
        const tuples = 'ref_key, body_hash) IN (';
        const sql = singly.includes(tuples)
          ? singly.replace(tuples, 'ref_key, TRUE) IN (').replaceAll('(?, ?, ?, ?, ?)', '(?, ?, ?, ?, ? IS NOT NULL)')
          : singly;
        return client.change({ ...statement, sql });
      },
    };
  };
}

const CHECKED = ' AND gone.added_id IS NULL AND past.added_id IS NULL AND lone.added_id IS NULL';

function withoutTombstones(): Wrap {
  return ({ transactions, ...client }, varied) => {
    const unchecked = (statement: Statement): Statement => {
      if (!statement.sql.includes(CHECKED)) return statement;
      varied();
      return { ...statement, sql: statement.sql.replace(CHECKED, '') };
    };
    return {
      ...client,
      change: (statement) => client.change(unchecked(statement)),
      ...(transactions && {
        transactions: { ...transactions, run: (statements) => transactions.run(statements.map(unchecked)) },
      }),
    };
  };
}

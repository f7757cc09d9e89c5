/** The protections that controls lack: each stands between the store and its groups, in any thread or process. */
import { selectLastIdNow, selectRawCells } from '../../../shared/moves/statements/raw-cells.ts';
import { closeShard, selectShardState } from '../../../shared/moves/statements/shard-states.ts';
import { SqlError, type SqlRow, type SqlValue, type Statement, type Target } from '../../../shared/sql/client.ts';
import { CONTROL } from '../../../shared/sql/names.ts';
import { forgetWriters, NOBODY, recordWriter } from '../../../shared/sql/statements/record-writer.ts';
import { selectFencedShards, toFencedShards } from '../../../shared/sql/statements/select-fenced-shards.ts';
import type { Wrap } from '../../support/store-access.ts';
import { blamingClient } from './blaming-client.ts';
import { changing, NOTHING, rewording } from '../changed-clients.ts';
import { readingBefore, splitting } from './without-transactions.ts';

/** The answer of a server that changed one row. */
const ONE = { affectedRows: 1, insertId: 0 };

/** Reports changes as done without doing them. */
function swallowing(which: RegExp, answer = NOTHING): Wrap {
  return changing(async (statement, client) => (which.test(statement.sql) ? answer : client.change(statement)));
}

/** The protections of a drain, of appends, of moves, by name: the named one is off. */
export const PROTECTIONS = {
  /** Unclear ends are failures, as to a client that does not retry: nothing was done. */
  secondTry: changing((statement, client) =>
    client.change(statement).catch((error: unknown) => {
      if (error instanceof SqlError && error.failure === 'unclear')
        throw new SqlError('rejected', error.message, { cause: error });
      throw error;
    }),
  ),
  /** Appends skip nothing: on tables without unique keys each stores its cell again. */
  leavingOut: rewording((sql) => sql.replace(' AND old.added_id IS NULL', '')),
  /** Copies of refused writes remain. */
  withdrawing: swallowing(/SET writers = REPLACE|WHERE writers = /u),
  /** A drain that does not mark a copy as shown before it appends it. */
  showing: swallowing(/SET shown = 1 /u),
  /** A drain that never parks a row, however often the row fails. */
  parking: rewording((sql) =>
    sql.replace("IF(attempts >= ?, 'parked', state)", "IF(attempts >= ? + 1000, 'parked', state)"),
  ),
  /** A drain that accepts any body at a row's address as the row's own. */
  comparingBodies: withoutComparing(),
  /** A circuit opens on any time limit. */
  healthChecks: blamingClient,
  /** Appends check for no erasure. */
  tombstones: withoutTombstones(),
  /** A drain that trusts one reader for all: the first reader is never asked. */
  everyReader: (client) => {
    const skipping = (target: Target): Target =>
      typeof target === 'object' && target.node > 0 ? { node: target.node + 1 } : target;
    return {
      ...client,
      nodes: client.nodes - 1,
      select: (statement, target) => client.select(statement, skipping(target)),
    };
  },
  /** A drain that opens a new writer's shards although no cells were restored. */
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
  /** A mover that does not close a shard before it switches it. */
  closing: withoutClosing(),
  /** Conditions of transactions are evaluated before the lock of their shard, and cells appended one by one. */
  transactions: both(readingBefore('writer'), splitting(false)),
  /** A mover that leaves the shard open on its former group, under its name. */
  leaving: both(withoutClosing(), swallowing(/\.shard SET state = 'moved'|^RENAME TABLE `[^`]+(?<!_copy)`\./u, ONE)),
  /** A mover that trusts its read of a shard as the content of the copy. */
  comparing: withoutReading(),
  /** A mover that reports each page as copied, and copies nothing. */
  copying: both(withoutReading(), swallowing(/^INSERT INTO `[^`]+_copy`\.`entity` /u, ONE)),
} satisfies Readonly<Record<string, Wrap>>;

export function withoutIt(protection: keyof typeof PROTECTIONS): string {
  return new URL(`protection.ts?${protection}`, import.meta.url).href;
}

/** Returns any body of a node at the address of a waiting row as the row's own. */
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
      // Changes rows by address alone, not by address and hash. One row is named by columns, several by tuples.
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

/** Combines both; the second one is closer to the group. */
function both(one: Wrap, other: Wrap): Wrap {
  return (client, varied) => one(other(client, varied), varied);
}

/** Leaves shards open that were to be closed, and shows them as closed. */
function withoutClosing(): Wrap {
  const anyShard = { datastore: '', shard: 0 };
  const [closing, showing] = [closeShard(anyShard, { epoch: 0, closedBy: '' }, '').sql, selectShardState(anyShard).sql];
  return (client) => {
    /** The attempt that was to close each shard. */
    const closed = new Map<string, SqlValue>();
    const nameOf = ({ sql, parameters }: Statement): string => {
      const [datastore, shard] = sql.includes('closed_by = ? WHERE') ? parameters.slice(1) : parameters;
      return `${String(datastore)}/${String(shard)}`;
    };
    return {
      ...client,
      async select(statement, target) {
        const rows = await client.select(statement, target);
        const attempt = closed.get(nameOf(statement));
        if (statement.sql !== showing || attempt === undefined) return rows;
        return rows.map((row) => row.with(1, 'moving').with(6, attempt));
      },
      async change(statement) {
        const isOfShard = statement.sql.startsWith(`UPDATE ${CONTROL}.shard SET state`);
        if (isOfShard) closed.delete(nameOf(statement));
        if (statement.sql !== closing) return client.change(statement);
        closed.set(nameOf(statement), String(statement.parameters[0]));
        return ONE;
      },
    };
  };
}

/** Answers reads of copies with the earlier reads of their shards, on any group. */
function withoutReading(): Wrap {
  const logs = new Map<string, SqlRow[]>();
  return (client) => ({
    ...client,
    async select(statement, target) {
      const [, database] = /`([^`]+)`\.`entity`/u.exec(statement.sql) ?? [];
      if (database === undefined) return client.select(statement, target);
      const shard = database.replace(/_copy$/u, '');
      const log = logs.get(shard) ?? [];
      logs.set(shard, log);
      const isCopy = database !== shard;
      const [after, limit] = statement.parameters.map(Number);
      if (statement.sql === selectRawCells(database, 0, 0, 0).sql) {
        const known = log.slice((after ?? 0) + 1, (after ?? 0) + 1 + (limit ?? 0));
        if (isCopy && known[0] !== undefined) return known.filter((row) => row !== undefined);
        const rows = await client.select(statement, target);
        if (!isCopy) for (const row of rows) log[Number(row[0])] = row;
        return rows;
      }
      const rows = await client.select(statement, target);
      if (!isCopy || statement.sql !== selectLastIdNow(database).sql) return rows;
      return [[String(Math.max(log.length - 1, Number(rows[0]?.[0] ?? 0)))]];
    },
  });
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

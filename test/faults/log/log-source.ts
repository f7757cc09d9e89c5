import type { Role } from '../../../shared/cell.ts';
import { toNumber } from '../../../shared/sql/cell-rows.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { markOf } from '../stored-cells.ts';
import { PLAIN, type PlainAccess } from '../load/plain-tables.ts';
import { groupClient, openStore, type StoreAccess } from '../../support/store-access.ts';
import type { SqlClient, SqlRow } from '../../../shared/sql/client.ts';

/** What log readers read: the store's logs, or, for the control, plain tables with a reader that steps over holes. */
export type LogAccess =
  | { readonly kind: 'store'; readonly access: StoreAccess }
  | { readonly kind: 'plain'; readonly access: PlainAccess };

export interface LogCell {
  readonly shard: number;
  readonly added_id: number;
  readonly mark: number;
  readonly created_at: string;
}

export interface LogSource extends AsyncDisposable {
  /** The next cells after each shard's id. */
  next(after: readonly number[]): Promise<LogPage>;
  readonly holes: HoleWatch;
}

export interface LogPage {
  readonly cells: readonly LogCell[];
  /** Where each shard is to be read on. */
  readonly after: readonly number[];
  /** Shards that were not answered. */
  readonly failures: number;
  /** Who answered. */
  readonly role: Role;
}

const LIMIT = 500;

export async function openLogSource(log: LogAccess, read: Role): Promise<LogSource> {
  return log.kind === 'store' ? await storeLogs(log.access, read) : plainLogs(log.access, read);
}

async function storeLogs(access: StoreAccess, read: Role): Promise<LogSource> {
  const holes = new HoleWatch();
  const store = await openStore(access, { connections: 2, wrap: (client) => holes.watch(client) });
  return {
    holes,
    async next(after) {
      const logs = await store.datastore.log(
        after.map((id, shard) => ({ shard, after: id })),
        { limit: LIMIT, read },
      );
      const cells = logs.flatMap((log) => (log.error ? [] : log.cells));
      return {
        cells: cells.map((cell) => ({ ...cell, mark: markOf(cell) })),
        after: logs.map((log, position) => (log.error ? (after[position] ?? 0) : log.next)),
        failures: logs.filter(({ error }) => error !== undefined).length,
        role: logs.every((log) => log.error === undefined && log.served_by === 'reader') ? 'reader' : 'writer',
      };
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

/** Ids alone: a reader that has to decode bodies comes round less often, and skips less. */
function plainLogs({ group }: PlainAccess, read: Role): LogSource {
  const client = groupClient([group], group.name, { connections: 2 });
  return {
    holes: new HoleWatch(),
    async next(after) {
      const selects = after.map(
        (_, shard) =>
          `(SELECT ${shard}, added_id FROM ${entityTable(PLAIN, shard)} WHERE added_id > ? ORDER BY added_id LIMIT ${LIMIT})`,
      );
      const rows = await client.select({ sql: selects.join(' UNION ALL '), parameters: after }, read);
      const nothing = { created_at: '', mark: 0 };
      const cells = rows.map(([shard, id]) => ({ shard: toNumber(shard), added_id: toNumber(id), ...nothing }));
      return {
        cells,
        after: after.map((id, shard) =>
          Math.max(id, ...cells.filter((cell) => cell.shard === shard).map(({ added_id }) => added_id)),
        ),
        failures: 0,
        role: read,
      };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/**
 * Sees the holes that the store stops at: looks at the rows of every log read before the store does. A hole is a cell
 * that is committed and not visible yet, while a later one is.
 */
export class HoleWatch {
  /** Of each shard, the missing id that a reader stands before, and since when. */
  readonly #open = new Map<number, { readonly id: number; readonly since: number }>();
  met = 0;
  longestMs = 0;

  watch(client: SqlClient): SqlClient {
    return {
      ...client,
      select: async (statement, target) => {
        const rows = await client.select(statement, target);
        // The rows of a log read alone begin with item, shard and added id, and have a location, limit and size each.
        if (statement.sql.includes(' AS taken '))
          this.#look(rows, statement.parameters.filter((_, position) => position % 3 === 0).map(Number));
        return rows;
      },
    };
  }

  #look(rows: readonly SqlRow[], afters: readonly number[]): void {
    const expected = afters.map((after) => after + 1);
    const holes = new Set<number>();
    for (const row of rows) {
      // How far the log goes, without a row key.
      if (row[3] === null) continue;
      const [item, shard, id] = [toNumber(row[0]), toNumber(row[1]), toNumber(row[2])];
      if (id !== expected[item] && !holes.has(shard)) {
        holes.add(shard);
        this.#meet(shard, expected[item] ?? 0);
      }
      expected[item] = id + 1;
    }
    for (const [shard, { since }] of this.#open) {
      if (holes.has(shard)) continue;
      this.longestMs = Math.max(this.longestMs, performance.now() - since);
      this.#open.delete(shard);
    }
  }

  #meet(shard: number, id: number): void {
    if (this.#open.get(shard)?.id === id) return;
    this.met += 1;
    this.#open.set(shard, { id, since: performance.now() });
  }
}

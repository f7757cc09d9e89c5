import type { SqlClient, SqlRow } from '../../../shared/sql/client.ts';
import { toNumber } from '../../../shared/sql/cell-rows.ts';

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
          this.#look(rows, statement.parameters.filter((_, place) => place % 3 === 0).map(Number));
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

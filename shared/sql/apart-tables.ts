import type { Statement } from './client.ts';

/** How long the statements of a table that kept others waiting, or was refused, go by themselves. */
const APART_MS = 30_000;

/** Tables whose statements go by themselves. Statements of no table, as those of the control database, never do. */
export class ApartTables {
  /** Until when, by table. */
  readonly #kept = new Map<string, number>();
  /** How often each was entered. */
  readonly #entered = new Map<string, number>();

  has(table: string | undefined): boolean {
    if (table === undefined || (this.#kept.size === 0 && this.#entered.size === 0)) return false;
    if (this.#entered.has(table)) return true;
    const until = this.#kept.get(table);
    if (until === undefined) return false;
    if (performance.now() < until) return true;
    this.#kept.delete(table);
    return false;
  }

  /** For half a minute. */
  keep(table: string | undefined): void {
    if (table !== undefined) this.#kept.set(table, performance.now() + APART_MS);
  }

  /** Until they leave, as often as they entered. */
  enter(statements: readonly Statement[]): void {
    for (const { table } of statements)
      if (table !== undefined) this.#entered.set(table, (this.#entered.get(table) ?? 0) + 1);
  }

  leave(statements: readonly Statement[]): void {
    for (const { table } of statements) {
      if (table === undefined) continue;
      const left = (this.#entered.get(table) ?? 0) - 1;
      if (left > 0) this.#entered.set(table, left);
      else this.#entered.delete(table);
    }
  }
}

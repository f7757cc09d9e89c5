/** How long the statements of a table that kept others waiting, or was refused, go by themselves. */
const APART_MS = 30_000;

/** Tables whose statements share no commit with others for a while. */
export class ApartTables {
  /** Until when, by table. */
  readonly #until = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#until.size === 0;
  }

  has(table: string): boolean {
    if (this.#until.size === 0) return false;
    const until = this.#until.get(table);
    if (until === undefined) return false;
    if (performance.now() < until) return true;
    this.#until.delete(table);
    return false;
  }

  /** For half a minute from now. */
  keep(table: string): void {
    this.#until.set(table, performance.now() + APART_MS);
  }
}

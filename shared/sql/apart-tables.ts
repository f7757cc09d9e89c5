const APART_MS = 30_000;

export class ApartTables {
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

  keep(table: string, milliseconds = APART_MS): void {
    this.#until.set(table, Math.max(this.#until.get(table) ?? 0, performance.now() + milliseconds));
  }
}

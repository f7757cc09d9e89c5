const KEPT_MS = 30_000;

/** Names of tables or groups that are isolated for a while. */
export class Quarantine {
  readonly #until = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#until.size === 0;
  }

  has(name: string): boolean {
    if (this.#until.size === 0) return false;
    const until = this.#until.get(name);
    if (until === undefined) return false;
    if (performance.now() < until) return true;
    this.#until.delete(name);
    return false;
  }

  /** @param milliseconds default half a minute */
  keep(name: string, milliseconds = KEPT_MS): void {
    this.#until.set(name, Math.max(this.#until.get(name) ?? 0, performance.now() + milliseconds));
  }

  release(name: string): void {
    this.#until.delete(name);
  }
}

/**
 * Runs work on a group, or on a stack, one piece at a time. Later work has a name: a new piece replaces a waiting one.
 */
export class WorkInTurn {
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #last: Promise<unknown> = Promise.resolve();
  #hasEnded = false;

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  async now<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return await done;
  }

  later(name: string, afterMs: number, work: () => Promise<void>): void {
    this.cancel(name);
    if (this.#hasEnded) return;
    this.#timers.set(
      name,
      setTimeout(() => {
        this.#timers.delete(name);
        void this.now(async () => {
          if (!this.#hasEnded) await work();
        });
      }, afterMs),
    );
  }

  cancel(name: string): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }

  end(): void {
    this.#hasEnded = true;
    for (const name of this.#timers.keys()) this.cancel(name);
  }

  async settled(): Promise<void> {
    await this.#last;
  }
}

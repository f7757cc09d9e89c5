/** Work on a group, one piece after the other. Work for later has a name: of each name the last piece alone waits. */
export class WorkInTurn {
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #last: Promise<void> = Promise.resolve();
  #hasEnded = false;

  /** No work for later begins any more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  async now(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    await done;
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

  /** Returns once the work under way has ended. */
  async settled(): Promise<void> {
    await this.#last;
  }
}

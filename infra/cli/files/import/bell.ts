/** Lets some wait until others say that something changed. */
export class Bell {
  #wake: () => void = () => undefined;
  #next = this.#silence();

  /** Settled at the next ring. */
  wait(): Promise<void> {
    return this.#next;
  }

  ring(): void {
    const wake = this.#wake;
    this.#next = this.#silence();
    wake();
  }

  #silence(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }
}

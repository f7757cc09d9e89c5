import type { TimedCell } from './trip.ts';

/** Cells waiting for their time, the earliest first; those of one time in the order they were added. A binary heap. */
export class DueCells {
  readonly #heap: { readonly timed: TimedCell; readonly order: number }[] = [];
  #added = 0;

  add(timed: TimedCell): void {
    const heap = this.#heap;
    heap.push({ timed, order: this.#added });
    this.#added += 1;
    let at = heap.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfEarlier(at, parent)) return;
      at = parent;
    }
  }

  /** Takes out the earliest cell that is due at `time`, undefined when none is. */
  take(time: number): TimedCell | undefined {
    const heap = this.#heap;
    const first = heap[0];
    if (first === undefined || first.timed.at > time) return undefined;
    const last = heap.pop();
    if (last !== undefined && heap.length > 0) {
      heap[0] = last;
      this.#sink();
    }
    return first.timed;
  }

  #sink(): void {
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const child = this.#earlier(left + 1, left) ? left + 1 : left;
      if (!this.#swapIfEarlier(child, at)) return;
      at = child;
    }
  }

  #swapIfEarlier(at: number, than: number): boolean {
    const a = this.#heap[at];
    const b = this.#heap[than];
    if (a === undefined || b === undefined || !this.#earlier(at, than)) return false;
    this.#heap[at] = b;
    this.#heap[than] = a;
    return true;
  }

  #earlier(at: number, than: number): boolean {
    const a = this.#heap[at];
    const b = this.#heap[than];
    if (a === undefined || b === undefined) return false;
    return a.timed.at < b.timed.at || (a.timed.at === b.timed.at && a.order < b.order);
  }
}

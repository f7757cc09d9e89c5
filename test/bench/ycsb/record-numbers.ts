/** Which records there are. */
export class RecordNumbers {
  #next: number;
  #count: number;
  readonly #ahead = new Set<number>();

  constructor(count: number) {
    this.#next = count;
    this.#count = count;
  }

  /** All below it were acknowledged: who asks for one of them finds it. */
  get count(): number {
    return this.#count;
  }

  /** Of a record that is to be inserted. */
  take(): number {
    this.#next += 1;
    return this.#next - 1;
  }

  acknowledge(number: number): void {
    this.#ahead.add(number);
    while (this.#ahead.delete(this.#count)) this.#count += 1;
  }
}

export interface Sized {
  /** An upper bound of its bytes of JSON, known without reading it. */
  readonly atMostBytes: number;
  /** Returns its bytes of JSON, or a little more. */
  readonly measure: () => number;
}

export interface AnswerRoom {
  /**
   * Takes an item if it fits, and returns whether it did. `anyway`: takes it even if it does not fit, as the first of a
   * list, which would never end otherwise.
   */
  take(one: Sized, anyway?: boolean): boolean;
  /** Returns the bytes left, or fewer; none are left at 0 or less. */
  left(): number;
}

export interface Sized {
  /** Bytes of JSON that it takes at most, known without looking at it. */
  readonly atMostBytes: number;
  /** Bytes of JSON that it takes, or a little more. */
  readonly measure: () => number;
}

export interface AnswerRoom {
  /**
   * Takes what fits. `anyway`: take it even if it does not fit, as the first of a list, which would never end
   * otherwise. Returns whether it was taken.
   */
  take(one: Sized, anyway?: boolean): boolean;
  /** Bytes that are left, or fewer; none are left at 0 or less. */
  left(): number;
}

/** What the trigger's function does wrong. */
export interface ConsumerVariation {
  /** Share of its calls that fail. */
  readonly failing: number;
  /** Fails on every poison cell. */
  readonly failsOnPoison: boolean;
  /** A failure is not noticed: its message is consumed. For controls. */
  readonly forgets: boolean;
  /** How long each call takes. */
  readonly callMs: number;
  /** Messages of a trigger that does not run come back after so long at most, in seconds. */
  readonly pauseSeconds: number;
}

export const GOOD_CONSUMER: ConsumerVariation = {
  failing: 0,
  failsOnPoison: false,
  forgets: false,
  callMs: 0,
  pauseSeconds: 300,
};

/** The ref key alone says which cell is poison: a message carries no body. */
const MODULUS = 10;
const POISON = 7;

/** The ref key of a writer's cell by its number. */
export function refKeyOf(number: number, poison: boolean): number {
  return number * MODULUS + (poison ? POISON : 0);
}

/** Whether the trigger's function is to fail on this cell as long as it is told to. */
export function isPoison({ ref_key }: { readonly ref_key: number }): boolean {
  return ref_key % MODULUS === POISON;
}

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

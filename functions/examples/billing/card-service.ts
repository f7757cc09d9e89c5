/** Money that is to be taken from a rider's card. */
export interface Charge {
  /** The same key is charged once, however often it is sent. */
  readonly idempotencyKey: string;
  /** From 1: how often this charge was tried, this time included. */
  readonly attempt: number;
  /** Below zero it is a refund. */
  readonly amount: number;
  /** "USD" */
  readonly currency: string;
}

/** Money that was taken. */
export interface Charged {
  readonly receipt: string;
  /** What was charged under the key the first time, whatever was asked for since. */
  readonly amount: number;
  readonly currency: string;
}

/** Somebody else's service that takes money from cards. */
export interface CardService {
  /** Throws `CardDeclined`, or any other error when it is not known what became of the charge: send it again. */
  charge(charge: Charge): Promise<Charged>;
}

/** The card was asked and refused: nothing was charged. */
export class CardDeclined extends Error {
  /** "insufficient_funds" */
  readonly reason: string;

  constructor(reason: string) {
    super(`The card was declined: ${reason}`);
    this.name = 'CardDeclined';
    this.reason = reason;
  }
}

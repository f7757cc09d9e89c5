/** A request to charge a rider's card. */
export interface Charge {
  /** The service charges a key once, however often it receives it. */
  readonly idempotencyKey: string;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** A negative amount is a refund. */
  readonly amount: number;
  /** "USD" */
  readonly currency: string;
}

/** A completed charge. */
export interface Charged {
  readonly receipt: string;
  /** The amount of the key's first charge, even if a later request names another. */
  readonly amount: number;
  readonly currency: string;
}

/** A third-party service that charges cards. */
export interface CardService {
  /** Throws `CardDeclined`, or any other error if the charge's outcome is unknown: send it again. */
  charge(charge: Charge): Promise<Charged>;
}

/** The card refused the charge: nothing was charged. */
export class CardDeclined extends Error {
  /** "insufficient_funds" */
  readonly reason: string;

  constructor(reason: string) {
    super(`The card was declined: ${reason}`);
    this.name = 'CardDeclined';
    this.reason = reason;
  }
}

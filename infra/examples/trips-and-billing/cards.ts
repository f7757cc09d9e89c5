/** The address of `card-service.ts`. Yours is elsewhere. */
export const CARDS_URL = 'http://127.0.0.1:4242';

export interface Charge {
  /** A rider is charged once for a key, however often it is sent. */
  readonly key: string;
  readonly rider_uuid: string;
  readonly cents: number;
}

/** The charge for the key, whatever later requests asked for. */
export interface Charged {
  readonly receipt: string;
  readonly cents: number;
}

/** Charges a rider's card. Throws if it was not charged, or if that is unknown: a retry with the same key is safe. */
export async function charge({ key, ...body }: Charge, signal: AbortSignal): Promise<Charged> {
  const headers = { 'idempotency-key': key };
  const request = { method: 'POST', headers, body: JSON.stringify(body), signal };
  const response = await fetch(`${CARDS_URL}/charges`, request);
  if (!response.ok) throw new Error(`the card service answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Charged;
}

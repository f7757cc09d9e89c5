import { sendCommand } from '../../infra/local/control/control-client.ts';
import type { Result } from './page.ts';

/** Data that only the account has. Each method throws an Error that names the obstacle. */
export interface Account {
  /** Throws unless its API is the one at this URL. */
  check(url: string): Promise<void>;
  /** Starts of functions since a time: how many, and how long their initialization took. */
  coldStarts(since: Date): Promise<readonly Result[]>;
  /** The most connections of each proxy that were pinned. */
  pinned(since: Date): Promise<readonly Result[]>;
  /** The cost of the last whole day, by service. */
  bill(): Promise<readonly Result[]>;
  /** Returns a function that makes a reader of a group take over, and returns once that has begun. */
  failOverOf(group: string): Promise<() => Promise<void>>;
}

/**
 * A local stack, which has neither CloudWatch nor a bill.
 *
 * @param data its data folder
 */
export function localAccount(data: string): Account {
  const none = (what: string) => async (): Promise<never> => {
    throw new Error(`one machine has no ${what}`);
  };
  return {
    check: async () => undefined,
    coldStarts: none('CloudWatch'),
    pinned: none('proxies'),
    bill: none('bill'),
    failOverOf: async (group) => async () => void (await sendCommand(data, 'promote', group)),
  };
}

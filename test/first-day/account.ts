import { sendCommand } from '../../infra/local/control/control-client.ts';
import type { StackStatus } from '../../infra/local/control/status.ts';
import type { Result } from './page.ts';

/** A row that this environment lacks, or that no option requests. */
export class NotAsked extends Error {}

/** Data that only the account has. Each method throws an Error that names the obstacle, or NotAsked. */
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
    throw new NotAsked(`one machine has no ${what}`);
  };
  const status = async (): Promise<StackStatus> => (await sendCommand(data, 'status')) as StackStatus;
  return {
    async check(url) {
      const { url: got } = await status();
      if (got !== url) throw new Error(`--data: wanted the folder of the stack at ${url}, got that of ${got}`);
    },
    coldStarts: none('CloudWatch'),
    pinned: none('proxies'),
    bill: none('bill'),
    async failOverOf(group) {
      const readers = (await status()).nodes.filter((node) => node.group === group && node.role === 'reader');
      if (readers.length === 0) throw new Error(`--failover: wanted a group with a reader, got ${group}`);
      return async () => void (await sendCommand(data, 'promote', group));
    },
  };
}

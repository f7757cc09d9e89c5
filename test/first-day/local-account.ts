import { sendCommand } from '../../infra/local/control/control-client.ts';
import type { Account } from './account.ts';

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

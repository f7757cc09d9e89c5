import { schemalessClient, type SchemalessClient } from '../../client/client.ts';
import type { ClientOptions } from '../../client/options.ts';

/** Makes the client of a trigger's call: it sends nothing after the signal. */
export type TriggerClients = (signal: AbortSignal) => SchemalessClient;

/**
 * Makes the clients of a trigger's calls, once for a process. All calls share one budget of retries, or they would
 * multiply the load of an API that refuses most. Parallel calls share read requests, and puts if the options say so.
 */
export function triggerClients(options: Omit<ClientOptions, 'signal'>): TriggerClients {
  const shared = schemalessClient(options);
  return (signal) => shared.with({ signal });
}

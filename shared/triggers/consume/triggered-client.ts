import type { PutResult } from '../../cell.ts';
import { schemalessClient, type SchemalessClient } from '../../client/client.ts';
import type { ClientOptions } from '../../client/options.ts';
import type { Datastore } from '../../contract/datastore.ts';
import { SchemalessError } from '../../errors.ts';

/**
 * Reads and writes the datastore of a trigger over HTTP, until the call's time is up.
 *
 * `put` and `putNext` throw `unavailable` for a write that was not confirmed, so that a function that looks at no outcome
 * fails and is called again. `conflict` is a result.
 */
export interface TriggeredClient extends Pick<SchemalessClient, 'get' | 'row' | 'putNext' | 'query'> {
  readonly put: Datastore['put'];
  readonly latest: SchemalessClient['getLatest'];
}

/**
 * Makes the clients of a trigger's calls, once for a process: all calls share one budget of retries, or they would multiply
 * the load on an API that refuses most of it. Parallel calls share read requests, and puts if the options say so.
 */
export function triggeredClients(options: Omit<ClientOptions, 'signal'>): (signal: AbortSignal) => TriggeredClient {
  const shared = schemalessClient(options);
  return (signal) => {
    const client = shared.with({ signal });
    return {
      get: client.get,
      latest: client.getLatest,
      row: client.row,
      query: client.query,
      put: async (cell) => confirmed(await client.put(cell)),
      putNext: async (cell) => confirmed(await client.putNext(cell)),
    };
  };
}

function confirmed<Result extends PutResult>(result: Result): Result {
  if (result.outcome !== 'unavailable') return result;
  throw new SchemalessError('unavailable', `The write was not confirmed: ${result.reason}`, { more: { ...result } });
}

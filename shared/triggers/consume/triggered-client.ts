import type { PutResult } from '../../cell.ts';
import { schemalessClient, type SchemalessClient } from '../../client/client.ts';
import type { ClientOptions } from '../../client/options.ts';
import type { Datastore } from '../../contract/datastore.ts';
import { SchemalessError } from '../../errors.ts';

/**
 * What a trigger's function gets to read and write its datastore with, over HTTP.
 *
 * `put` and `putNext` are those of the client but for one thing: a write that was not confirmed is thrown as
 * `unavailable`, not returned, so that a function that looks at no outcome fails, and is called again, instead of
 * going on without its write. `conflict` is a result, as ever.
 *
 * When the call's time is up nothing is sent any more: whatever then goes on in the function cannot mix with the next
 * attempt.
 */
export interface TriggeredClient extends Pick<SchemalessClient, 'get' | 'row' | 'putNext' | 'query'> {
  readonly put: Datastore['put'];
  /** The cell of a column with the highest ref key. */
  readonly latest: SchemalessClient['getLatest'];
}

/**
 * Makes the clients of a trigger's calls, one for each call. To be made once for a process: all calls share one budget
 * of retries, since each with a reserve of its own would multiply the load on an API that refuses most of it. What calls
 * that go on side by side read at the same time goes in one request; what they put, where the options say so.
 *
 * @returns a client whose requests, those under way too, end with the signal; what was read with others is not looked at
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

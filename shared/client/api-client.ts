import type { Methods, Operation, Operations } from '../api/operation.ts';
import { OPERATIONS } from '../api/operations.ts';
import { DATASTORE_NAME } from '../definitions/definitions.ts';
import { invalidField } from '../errors.ts';
import { callOf, type Parameters } from './call-of.ts';
import type { BoundedConnection } from './calls.ts';
import { connect } from './connection.ts';
import type { ClientOptions } from './options.ts';

/** Every operation of the API, for one datastore. */
export type ApiClient = Methods<typeof OPERATIONS>;

/**
 * Returns a client with every operation of the API: for operators, and programs that need more than the client of a
 * datastore. Each takes the parameters of path, query and body in one object, and returns the answer's body.
 *
 * ```ts
 * const api = apiClient({ url: 'http://127.0.0.1:4000', datastore: 'trips' });
 * await api.pauseTrigger({ trigger: 'bill_rider', reason: 'the card service is down' });
 * ```
 */
export function apiClient(options: ClientOptions): ApiClient {
  return clientOf(OPERATIONS, options);
}

export function clientOf<Some extends Operations>(operations: Some, options: ClientOptions): Methods<Some> {
  const { datastore } = options;
  // Any other name would change the path.
  if (!DATASTORE_NAME.test(datastore)) throw invalidField('datastore', 'the name of one', datastore);
  const connections = new Map<string, BoundedConnection>();
  const connectionOf = ({ path }: Operation): BoundedConnection => {
    const [, , first = ''] = path.split('/');
    const name = first === '{datastore}' ? datastore : first;
    let connection = connections.get(name);
    if (connection === undefined) connections.set(name, (connection = connect({ ...options, datastore: name })));
    return connection;
  };
  const methods = Object.entries(operations).map(([name, operation]) => {
    const send = connectionOf(operation);
    return [name, async (parameters: Parameters = {}) => (await send(callOf(operation, parameters))).json];
  });
  return Object.fromEntries(methods) as Methods<Some>;
}

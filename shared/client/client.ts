import type { IndexOperations } from '../api/indexes.ts';
import type { Datastore } from '../contract/datastore.ts';
import { cellReads } from './cell-reads.ts';
import { cellWrites } from './cell-writes.ts';
import type { BoundedConnection } from './calls.ts';
import { boundedBy } from './bounds.ts';
import { connect } from './connection.ts';
import { indexCalls } from './index-calls.ts';
import { logCalls } from './log-calls.ts';
import type { CallLimits, ClientOptions } from './options.ts';
import { ownWrites, type OwnWrites } from './own-writes.ts';
import { putNextOver, putOver, type Put, type PutNext } from './put-next.ts';

/** A datastore over HTTP: what a datastore can do, and what a client adds. */
export interface SchemalessClient extends Omit<Datastore, 'shards' | 'put'>, IndexOperations {
  readonly put: Put;
  readonly putNext: PutNext;
  /** The same client, whose calls are bounded so: by a signal, a deadline, or both. What it knows is shared. */
  with(limits: CallLimits): SchemalessClient;
}

/**
 * A client of one datastore. Needs nothing to be closed; may be used by any number of callers at once.
 *
 * Requests are repeated with growing, random pauses when no answer came or the server says that it may help; what is
 * then still refused is thrown as the SchemalessError that the server named; `unavailable` also when no answer came at
 * all. As with any datastore, outcomes of puts are results: what the server answered as `conflict` or `unavailable` is
 * returned. Items of a batch are not repeated one by one: `putAll` and `getAll` do that.
 *
 * ```ts
 * const trips = schemalessClient({ url: 'http://127.0.0.1:4000', datastore: 'trips' });
 * await trips.put({ row_key, column_name: 'BASE', ref_key: 1, body: { city: 'Lisbon' } });
 * const { cell } = await trips.with({ deadlineMs: 2000 }).getLatest({ row_key, column_name: 'BASE' });
 * ```
 */
export function schemalessClient(options: ClientOptions): SchemalessClient {
  const send = connect(options);
  return clientOver({ name: options.datastore, send, own: options.readOwnWrites === true ? ownWrites() : undefined });
}

interface ClientParts {
  readonly name: string;
  readonly send: BoundedConnection;
  readonly own?: OwnWrites | undefined;
}

export function clientOver(parts: ClientParts, limits?: CallLimits): SchemalessClient {
  const send = limits === undefined ? parts.send : boundedBy(parts.send, limits);
  const writes = cellWrites(send, parts.own);
  const reads = cellReads(send, parts.own);
  const putNext = putNextOver({ ...writes, ...reads });
  return {
    name: parts.name,
    ...writes,
    put: putOver(writes.put, putNext),
    ...reads,
    ...logCalls(send),
    ...indexCalls(send),
    putNext,
    with: (more) => clientOver({ ...parts, send }, more),
  };
}

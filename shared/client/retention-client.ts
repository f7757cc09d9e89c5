import type { Json } from '../cell.ts';
import type { Hold, Purge, Retention, RetentionOperations } from '../contract/retention-operations.ts';
import { toItems } from './answers.ts';
import { connect } from './connection.ts';
import type { ClientOptions } from './options.ts';

/**
 * How long cells of a datastore are kept, what is held back from erasures, and the space of what is gone, over HTTP: for
 * those who answer for it.
 *
 * ```ts
 * const retention = retentionClient({ url: 'http://127.0.0.1:4000', datastore: 'trips' });
 * await retention.putHold({ hold: 'case-17', row_key, reason: 'evidence' });
 * ```
 */
export function retentionClient(options: ClientOptions): RetentionOperations {
  const send = connect(options);

  return {
    async retention() {
      return (await send({ method: 'GET', path: ['retention'] })).json as unknown as Retention;
    },
    async putHold(hold) {
      return (await send({ method: 'PUT', path: ['holds'], body: { ...hold } })).json as unknown as Hold;
    },
    async releaseHold({ hold, row_key, subject }) {
      const query = { hold, row_key, subject };
      return (await send({ method: 'DELETE', path: ['holds'], query })).json as unknown as Hold;
    },
    async holds({ row_key, subject, limit, after } = {}) {
      const { json } = await send({ method: 'GET', path: ['holds'], query: { row_key, subject, limit, after } });
      return { holds: toItems<Hold>(json['holds'] as Json), next: json['next'] as string | null };
    },
    async purge() {
      return (await send({ method: 'POST', path: ['purge'] })).json as unknown as Purge;
    },
  };
}

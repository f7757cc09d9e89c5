import type { Json } from '../cell.ts';
import type { Erasure, ErasureOperations } from '../contract/erasure-operations.ts';
import { missingField } from '../errors.ts';
import { toItems } from './answers.ts';
import { answerTo } from './calls.ts';
import { connect } from './connection.ts';
import type { ClientOptions } from './options.ts';

/**
 * Erases cells of a datastore over HTTP: what those may do who answer for it. Apart from the client of a datastore, which
 * each program carries, since few programs erase.
 *
 * ```ts
 * const erasures = erasuresClient({ url: 'http://127.0.0.1:4000', datastore: 'trips' });
 * await erasures.erase({ row_key, reason: 'request 4711' });
 * ```
 */
export function erasuresClient(options: ClientOptions): ErasureOperations {
  const send = connect(options);

  return {
    async erase(target) {
      // What is left out makes it wider: who means to say it, and has nothing, is not to erase all.
      for (const [name, value] of Object.entries(target))
        if (value === undefined) throw missingField(name, 'a value, or not to be there');
      return answerTo(send, { method: 'POST', path: ['erasures'], body: { ...target } });
    },
    erasure: (id) => answerTo(send, { method: 'GET', path: ['erasures', id] }),
    async erasures({ open, limit, after } = {}) {
      const query = { ...(open === true && { open: 'true' }), limit, after };
      const { json } = await send({ method: 'GET', path: ['erasures'], query });
      return { erasures: toItems<Erasure>(json['erasures'] as Json), next: json['next'] as string | null };
    },
    retention: () => answerTo(send, { method: 'GET', path: ['retention'] }),
  };
}

import { scopeOf } from '../../../shared/address.ts';
import { ERASURES, type Erasure, type ErasureOperations, type Retention } from '../../../shared/api/erasures.ts';
import { wrongField } from '../../../shared/errors.ts';

/** The column whose erasure stays open while a caller waits for it. */
export const WHILE_UNAVAILABLE = 'UNAVAILABLE';

const { answers } = ERASURES.eraseCells;
export const ERASED: Erasure = {
  ...answers[200].example,
  shard: 2,
  reason: 'request 4711',
  requested_by: 'anybody',
  added_id: 17,
  backups_until: null,
};

export const ERASING: Erasure = {
  ...ERASED,
  ...answers[202].example,
  id: 'c1d5a9de-98d7-5a0c-8f6b-0d9b8f6f4c22',
  column_name: WHILE_UNAVAILABLE,
  added_id: null,
  cleaned: { bodies: null, entries: null, copies: null, parked: null, nodes: null },
  waits_for: 'bodies: group-1 does not answer',
};

export const KEPT: Retention = ERASURES.getRetention.answers[200].example;

const ALL = [ERASED, ERASING];

/** Returns the operations of a datastore with two erasures: one is done, and one is not. */
export function fakeErasures(requested_by = 'anybody'): ErasureOperations {
  return {
    async eraseCells({ row_key, column_name, ref_key, up_to, reason }) {
      return {
        ...(column_name === WHILE_UNAVAILABLE ? ERASING : ERASED),
        scope: scopeOf({ column_name, ref_key, up_to }),
        row_key,
        column_name: column_name ?? null,
        ref_key: ref_key ?? null,
        up_to: up_to ?? null,
        reason,
        requested_by,
      };
    },
    async getErasure({ erasure }) {
      const found = ALL.find(({ id }) => id === erasure);
      if (!found) throw wrongField('erasure', 'the id of an erasure', erasure, 'unknown_erasure');
      return found;
    },
    async listErasures({ open, limit = 100, after } = {}) {
      const wanted = ALL.filter(({ state }) => open !== true || state === 'erasing');
      const from = 1 + wanted.findIndex(({ id }) => id === after);
      const erasures = wanted.slice(from, from + limit);
      return { erasures, next: from + limit < wanted.length ? (erasures.at(-1)?.id ?? null) : null };
    },
    getRetention: async () => KEPT,
  };
}

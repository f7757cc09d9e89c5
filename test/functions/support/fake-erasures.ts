import { scopeOf } from '../../../shared/address.ts';
import type { Erasure, ErasureOperations, Retention } from '../../../shared/api/erasures.ts';
import { SchemalessError } from '../../../shared/errors.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
/** The column whose erasure is never done while somebody waits for it. */
export const AWAY = 'AWAY';

export const ERASED: Erasure = {
  id: 'b7b0f6a4-3f5e-5a42-9c64-2f3b1d0f7a11',
  scope: 'column',
  row_key: ROW,
  column_name: 'BASE',
  ref_key: null,
  up_to: null,
  shard: 2,
  reason: 'request 4711',
  requested_by: 'anybody',
  requested_at: '2026-01-31T08:00:00.000Z',
  state: 'erased',
  added_id: 17,
  cells: 3,
  bytes: 912,
  erased_at: '2026-01-31T08:00:00.093Z',
  cleaned: {
    bodies: '2026-01-31T08:00:00.041Z',
    entries: '2026-01-31T08:00:00.055Z',
    copies: '2026-01-31T08:00:00.061Z',
    parked: '2026-01-31T08:00:00.070Z',
    nodes: '2026-01-31T08:00:00.093Z',
  },
  waits_for: null,
  backups_until: null,
};

export const ERASING: Erasure = {
  ...ERASED,
  id: 'c1d5a9de-98d7-5a0c-8f6b-0d9b8f6f4c22',
  column_name: AWAY,
  state: 'erasing',
  added_id: null,
  erased_at: null,
  cleaned: { bodies: null, entries: null, copies: null, parked: null, nodes: null },
  waits_for: 'bodies: group-1 does not answer',
};

export const KEPT: Retention = {
  rules: [
    { column: 'STATUS', keep_versions: 10 },
    { column: '*', keep_for_seconds: 86_400 },
  ],
  columns: [
    {
      column: 'STATUS',
      id: 'b7b0f6a4-3f5e-5a42-9c64-2f3b1d0f7a11',
      days: [
        {
          day: '2026-01-31',
          erasures: 2,
          cells: 30,
          bytes: 912,
          from: '2026-01-31T08:00:00.000Z',
          to: '2026-01-31T08:00:01.000Z',
        },
      ],
    },
  ],
  behind_seconds: null,
  open: 1,
  waits_for: 'nodes: one is away',
};

const ALL = [ERASED, ERASING];

/** Erasures of a datastore of which one is done, and one is not; what was asked of them is kept in `asked`. */
export function fakeErasures(asked: unknown[][] = [], requested_by = 'anybody'): ErasureOperations {
  return {
    async eraseCells(target) {
      asked.push(['eraseCells', target]);
      const { row_key, column_name, ref_key, up_to, reason } = target;
      return {
        ...(column_name === AWAY ? ERASING : ERASED),
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
      if (found === undefined)
        throw new SchemalessError('unknown_erasure', `no erasure ${erasure}`, {
          field: 'erasure',
          wanted: 'the id of an erasure',
          got: erasure,
        });
      asked.push(['getErasure', { erasure }]);
      return found;
    },
    async listErasures({ open, limit = 100, after } = {}) {
      asked.push(['listErasures', { open, limit, after }]);
      const wanted = ALL.filter(({ state }) => open !== true || state === 'erasing');
      const from = 1 + wanted.findIndex(({ id }) => id === after);
      const erasures = wanted.slice(from, from + limit);
      return { erasures, next: from + limit < wanted.length ? (erasures.at(-1)?.id ?? null) : null };
    },
    getRetention: async () => KEPT,
  };
}

import { parseRowKey } from '../../../shared/address.ts';
import type { Hold, Purge, Retention, RetentionOperations } from '../../../shared/contract/retention-operations.ts';
import { SchemalessError } from '../../../shared/errors.ts';

export const HOLD: Hold = {
  hold: 'case-17',
  row_key: '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0',
  subject: null,
  reason: 'evidence',
  requested_by: 'anybody',
  requested_at: '2026-01-31T08:00:00.000Z',
};

export const PURGE: Purge = {
  state: 'purging',
  requested_by: 'anybody',
  requested_at: '2026-01-31T08:00:00.000Z',
  purged_at: null,
  tables: 3,
  of: 68,
  bytes_before: 9_000_000,
  bytes_after: 2_000_000,
  waits_for: 'group-2: does not answer',
  logs_left: null,
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
  purge: PURGE,
};

/** Retention of a datastore with one hold; what was asked is kept in `asked`. */
export function fakeRetention(asked: unknown[][] = [], requested_by = 'anybody'): RetentionOperations {
  return {
    retention: async () => KEPT,
    async putHold({ hold, row_key = null, subject = null, reason }) {
      asked.push(['putHold', { hold, row_key, subject, reason }]);
      return { ...HOLD, hold, row_key: row_key === null ? null : parseRowKey(row_key), subject, reason, requested_by };
    },
    async releaseHold({ hold, row_key, subject }) {
      asked.push(['releaseHold', { hold, row_key, subject }]);
      if (hold === HOLD.hold) return HOLD;
      throw new SchemalessError('unknown_hold', `no hold ${hold}`, { field: 'hold', wanted: 'a hold', got: hold });
    },
    async holds(options) {
      asked.push(['holds', options]);
      return { holds: [HOLD], next: null };
    },
    purge: async () => ({ ...PURGE, requested_by }),
  };
}

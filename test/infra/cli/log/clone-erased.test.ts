import { describe, expect, it } from 'vitest';
import { cloneLog, OtherLog, type Cloning } from '../../../../infra/cli/commands/clone.ts';
import { EMPTY_DIGEST } from '../../../../shared/body/log-digest.ts';
import type { Cell, PutResult } from '../../../../shared/cell.ts';
import { ERASED } from '../../../functions/support/fake-erasures.ts';

const SERVED = { served_by: 'writer', stale: false } as const;
const CELL: Cell = {
  row_key: ERASED.row_key,
  column_name: 'BASE',
  ref_key: 1,
  body: 1,
  added_id: 1,
  shard: 0,
  created_at: '2026-01-31T08:00:00.000000Z',
};

/** A clone of one cell, with what was asked of the target. */
function cloned(
  cell: Cell,
  result: PutResult = { outcome: 'stored', shard: 0, added_id: 1 },
): {
  readonly ended: Promise<unknown>;
  readonly restored: unknown[];
} {
  const restored: unknown[] = [];
  const digest: Cloning['source']['digest'] = async () => ({
    shard: 0,
    at: 0,
    digest: EMPTY_DIGEST,
    more: false,
    ...SERVED,
  });
  const cloning: Cloning = {
    source: { digest, log: async () => [{ shard: 0, cells: [cell], next: 1, more: false, ...SERVED }] },
    target: {
      digest,
      batchRestore: async (cells) => (restored.push(...cells), [result]),
      transact: () => Promise.reject(new TypeError('no transactions')),
    },
    signal: new AbortController().signal,
  };
  return { ended: cloneLog(cloning, { shard: 0, to: 1, at: 0 }), restored };
}

describe('a log in which something was erased is not cloned', () => {
  it.each<readonly [string, Cell]>([
    ['was erased', { ...CELL, body: null, erased: true, body_sha256: 'ab'.repeat(32) }],
    ['is an erasure', { ...CELL, body: null, erasure: { id: ERASED.id, scope: 'row', reason: 'request 4711' } }],
  ])('since what stands there %s', async (what, cell) => {
    const { ended, restored } = cloned(cell);
    await expect(ended).rejects.toThrow(OtherLog);
    await expect(ended).rejects.toThrow(`what has the added id 1 ${what}`);
    expect(restored).toEqual([]);
  });

  it('nor to where its cells may not be written any more', async () => {
    const { ended } = cloned(CELL, { outcome: 'erased', shard: 0 });
    await expect(ended).rejects.toThrow(OtherLog);
    await expect(ended).rejects.toThrow('its address was erased there');
  });
});

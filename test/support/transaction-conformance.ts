import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { LIMITS, type RowTransaction } from '../../shared/cell.ts';
import type { Datastore } from '../../shared/contract/datastore.ts';
import { SchemalessError } from '../../shared/errors.ts';

/** The contract of transactions of rows. */
export function transactions(store: Datastore): void {
  const orderOf = (row_key: string = randomUUID()): RowTransaction => ({
    row_key,
    cells: [
      { column_name: 'ORDER', ref_key: 4, body: { state: 'paid' } },
      { column_name: 'OUTBOX', ref_key: 17, body: { event: 'paid', 'at\u00E9': 'x'.repeat(400) } },
      { column_name: 'AUDIT', ref_key: 0, body: 'paid' },
    ],
  });
  const shownAt = async (row_key: string): Promise<readonly unknown[]> => {
    const { cells } = await store.row(row_key);
    return cells.map(({ column_name, ref_key, body }) => ({ column_name, ref_key, body }));
  };
  const inOrder = ({ cells }: RowTransaction): readonly unknown[] =>
    cells.toSorted((one, other) => (one.column_name < other.column_name ? -1 : 1));

  it('stores all cells of a transaction, consecutive in the log, and says so when it is repeated', async () => {
    const order = orderOf();
    const result = await store.transact(order);
    expect(result).toMatchObject({ outcome: 'stored' });
    const { added_ids: [first = 0] = [] } = result as { added_ids?: readonly number[] };
    expect(result).toEqual({ outcome: 'stored', shard: result.shard, added_ids: [first, first + 1, first + 2] });
    expect(await shownAt(order.row_key)).toEqual(inOrder(order));
    expect(await store.transact({ ...order, cells: order.cells.toReversed() })).toEqual({
      outcome: 'stored_before',
      shard: result.shard,
      added_ids: [first + 2, first + 1, first],
    });
    const [log] = await store.log([{ shard: result.shard ?? 0, after: first - 1 }], { limit: 3 });
    expect(
      log && 'cells' in log && log.cells.map(({ column_name, transaction }) => ({ column_name, transaction })),
    ).toEqual(order.cells.map(({ column_name }, position) => ({ column_name, transaction: { size: 3, position } })));
    const { cell } = await store.get({ row_key: order.row_key, column_name: 'ORDER', ref_key: 4 });
    expect(cell).toMatchObject({ body: { state: 'paid' }, transaction: { size: 3, position: 0 } });
  });

  it('writes the missing cells of a transaction, together, if the others are equal', async () => {
    const order = orderOf();
    const { row_key, cells } = order;
    const there = await store.put({ row_key, ...(cells[1] as (typeof cells)[0]) });
    const result = await store.transact(order);
    expect(result.outcome).toBe('stored');
    const { added_ids: [one = 0, before = 0, other = 0] = [] } = result as { added_ids?: readonly number[] };
    expect([before, other]).toEqual([(there as { added_id: number }).added_id, one + 1]);
    expect(await shownAt(row_key)).toEqual(inOrder(order));
    const found = await store.batchGet(cells.map(({ column_name, ref_key }) => ({ row_key, column_name, ref_key })));
    expect(found.map((cell) => cell && 'row_key' in cell && cell.transaction)).toEqual([
      { size: 2, position: 0 },
      undefined,
      { size: 2, position: 1 },
    ]);
    expect((await store.transact(order)).outcome).toBe('stored_before');
  });

  it('writes nothing of a transaction with another body at one address, and names it', async () => {
    const order = orderOf();
    const { row_key } = order;
    await store.put({ row_key, column_name: 'OUTBOX', ref_key: 17, body: 'another' });
    expect(await store.transact(order)).toMatchObject({
      outcome: 'conflict',
      cells: [{ column_name: 'OUTBOX', ref_key: 17 }],
    });
    expect(await shownAt(row_key)).toEqual([{ column_name: 'OUTBOX', ref_key: 17, body: 'another' }]);
  });

  it('writes only if each column has the latest ref key of its condition', async () => {
    const order = orderOf();
    const { row_key } = order;
    const first = { column_name: 'ORDER', ref_key: 3, body: { state: 'new' } };
    const ifNone = { row_key, cells: [first], if: [{ column_name: 'ORDER', latest: null }] };
    expect((await store.transact(ifNone)).outcome).toBe('stored');
    const ifThree = {
      ...order,
      if: [
        { column_name: 'ORDER', latest: 3 },
        { column_name: 'OUTBOX', latest: null },
      ],
    };
    expect((await store.transact(ifThree)).outcome).toBe('stored');
    // They do not hold any more, but the transaction is there.
    expect((await store.transact(ifThree)).outcome).toBe('stored_before');
    expect((await store.transact(ifNone)).outcome).toBe('stored_before');
    const late = { ...ifThree, cells: [{ column_name: 'ORDER', ref_key: 5, body: { state: 'lost' } }] };
    expect(await store.transact(late)).toEqual({
      outcome: 'condition_failed',
      shard: expect.any(Number),
      failed: [
        { column_name: 'ORDER', wanted: 3, latest: expect.objectContaining({ ref_key: 4, body: { state: 'paid' } }) },
        { column_name: 'OUTBOX', wanted: null, latest: expect.objectContaining({ ref_key: 17 }) },
      ],
    });
    expect(await shownAt(row_key)).toEqual(inOrder(order));
    const ofNothing = { ...late, if: [{ column_name: 'NONE', latest: 0 }] };
    expect(await store.transact(ofNothing)).toMatchObject({
      outcome: 'condition_failed',
      failed: [{ column_name: 'NONE', wanted: 0, latest: null }],
    });
  });

  it('lets one of several racing transactions win each version, and shows no part of one', async () => {
    const row_key = randomUUID();
    const callers = Array.from({ length: 6 }, (_, caller) => caller);
    let parts = 0;
    const done = new AbortController();
    const reader = (async () => {
      while (!done.signal.aborted) {
        const { cells } = await store.row(row_key);
        if (cells.length !== 0 && (cells.length !== 2 || cells[0]?.ref_key !== cells[1]?.ref_key)) parts += 1;
      }
    })();
    for (let version = 0; version < 4; version += 1) {
      const results = await Promise.all(
        callers.map((caller) =>
          store.transact({
            row_key,
            cells: ['A', 'B'].map((column_name) => ({ column_name, ref_key: version, body: caller })),
            if: [{ column_name: 'A', latest: version === 0 ? null : version - 1 }],
          }),
        ),
      );
      expect(results.map(({ outcome }) => outcome).sort()).toEqual([
        ...callers.slice(1).map(() => 'condition_failed'),
        'stored',
      ]);
      const winner = results.findIndex(({ outcome }) => outcome === 'stored');
      expect(await shownAt(row_key)).toEqual(
        ['A', 'B'].map((column_name) => ({ column_name, ref_key: version, body: winner })),
      );
    }
    done.abort();
    await reader;
    expect(parts).toBe(0);
  });

  const cell = { column_name: 'A', ref_key: 1, body: 1 };
  const large = 'x'.repeat(LIMITS.bodyBytes / 2);
  it.each<[string, Partial<RowTransaction>, string, string]>([
    ['no cells', { cells: [] }, 'cells', 'invalid_field'],
    [
      'too many cells',
      { cells: Array.from({ length: 26 }, (_, ref_key) => ({ ...cell, ref_key })) },
      'cells',
      'invalid_field',
    ],
    ['an address twice', { cells: [cell, { ...cell, body: 2 }] }, 'cells[1]', 'invalid_field'],
    ['a bad row key', { row_key: 'x' }, 'row_key', 'invalid_field'],
    ['a bad ref key', { cells: [cell, { ...cell, ref_key: -1 }] }, 'cells[1].ref_key', 'invalid_field'],
    [
      'two conditions on a column',
      { if: [0, 1].map((latest) => ({ column_name: 'A', latest })) },
      'if[1].column_name',
      'invalid_field',
    ],
    ['a condition without a ref key', { if: [{ column_name: 'A' } as never] }, 'if[0].latest', 'missing_field'],
    [
      'bodies over 1 MiB',
      { cells: [1, 2].map((ref_key) => ({ ...cell, ref_key, body: large })) },
      'cells',
      'body_too_large',
    ],
  ])('refuses %s', async (_, change, field, code) => {
    const row_key = randomUUID();
    const error = await store.transact({ row_key, cells: [cell], ...change }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SchemalessError);
    expect(error).toMatchObject({ code, field });
    expect(await shownAt(row_key)).toEqual([]);
  });
}

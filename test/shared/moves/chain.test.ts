import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EMPTY_CHAIN, extendChain, fingerprintOf, goBackTo, type Chain } from '../../../shared/moves/chain.ts';
import type { RawCell } from '../../../shared/moves/statements/raw-cells.ts';

const bodies = fc.option(fc.uint8Array({ maxLength: 20 }), { nil: null });
const logs = fc
  .array(fc.record({ column: fc.uint8Array({ maxLength: 8 }), ref_key: fc.integer(), body: bodies }), {
    minLength: 1,
    maxLength: 60,
  })
  .map((rows) =>
    rows.map(({ column, ref_key, body }, position): RawCell => ({
      added_id: position + 1,
      row_key: new Uint8Array(16).fill(position),
      column_name: column,
      ref_key: String(ref_key),
      body,
      created_at: `2026-01-01 00:00:00.${String(position).padStart(6, '0')}`,
    })),
  );

function inPages(cells: readonly RawCell[], size: number): Chain {
  let chain = EMPTY_CHAIN;
  for (let from = 0; from < cells.length; from += size) chain = extendChain(chain, cells.slice(from, from + size));
  return chain;
}

describe('the chain of a log', () => {
  it('is another one with any other byte of any row', () => {
    fc.assert(
      fc.property(logs, fc.nat(), fc.integer({ min: 0, max: 4 }), (cells, place, what) => {
        const position = place % cells.length;
        const cell = cells[position] as RawCell;
        const changes: readonly Partial<RawCell>[] = [
          { body: cell.body === null ? new Uint8Array() : Buffer.concat([cell.body, Buffer.from([1])]) },
          { ref_key: `${cell.ref_key}0` },
          { column_name: Buffer.concat([cell.column_name, Buffer.from([0])]) },
          { created_at: cell.created_at.replace('2026', '2025') },
          { row_key: new Uint8Array(16).fill(255) },
        ];
        const changed = cells.with(position, { ...cell, ...changes[what] });
        expect(inPages(changed, 7).digest).not.toBe(inPages(cells, 7).digest);
      }),
    );
  });

  it('is the same however it was read, knows its cells, and goes back to a place and on from there', () => {
    fc.assert(
      fc.property(
        logs,
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 9 }),
        fc.nat(),
        (cells, one, size, most) => {
          const whole = inPages(cells, size);
          expect(inPages(cells, one).digest).toBe(whole.digest);
          for (const { added_id, fingerprint } of whole.places)
            expect(fingerprint).toBe(fingerprintOf(cells[added_id - 1] as RawCell));
          const back = goBackTo(whole, ({ added_id }) => added_id <= most % (cells.length + 1));
          expect(back.at).toBeLessThanOrEqual(most % (cells.length + 1));
          expect(extendChain(back, cells.slice(back.at)).digest).toBe(whole.digest);
        },
      ),
    );
  });
});

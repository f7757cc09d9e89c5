import { addressKey } from '../address.ts';
import { equalJson } from '../body/equal.ts';
import type { PutResult } from '../cell.ts';
import type { PlacedCell } from '../sql/encoded-cell.ts';

/** Settles repeats in a batch: judged by the first one's outcome, or written after it if that is open. */
export async function settleRepeats(
  cells: readonly PlacedCell[],
  write: (cells: readonly PlacedCell[]) => Promise<readonly PutResult[]>,
): Promise<readonly PutResult[]> {
  if (cells.length === 1) return write(cells);
  const firsts = [...Map.groupBy(cells, addressKey).values()].map(([first]) => first as PlacedCell);
  const written = await write(firsts);
  if (firsts.length === cells.length) return written;

  const byAddress = new Map(
    firsts.map((first, position) => [addressKey(first), { first, result: written[position] as PutResult }]),
  );
  const results: PutResult[] = [];
  for (const cell of cells) {
    const { first, result } = byAddress.get(addressKey(cell)) ?? { first: cell, result: undefined };
    if (!result) throw new Error('a repeat without its first');
    if (cell === first) results.push(result);
    else {
      const equal = equalJson(first.body, cell.body);
      const isOpen = !equal && (result.outcome === 'conflict' || result.outcome === 'buffered');
      results.push(...(isOpen ? await write([cell]) : [judgeRepeat(result, equal)]));
    }
  }
  return results;
}

function judgeRepeat(first: PutResult, equal: boolean): PutResult {
  if (first.outcome !== 'stored' && first.outcome !== 'stored_before') return first;
  if (equal) return { ...first, outcome: 'stored_before' };
  return { outcome: 'conflict', shard: first.shard, added_id: first.added_id };
}

import { parseBatch } from '../address.ts';
import { equalJson } from '../body/equal.ts';
import type { Json, NewCell, PutResult } from '../cell.ts';
import type { Datastore, PutOptions } from '../contract/datastore.ts';
import { shardOf } from '../shard.ts';
import { openCells } from './open-cells.ts';
import { sealCells, type SealedCell } from './seal-cells.ts';
import type { SealedParts } from './sealed-parts.ts';

type Writes = Pick<Datastore, 'put' | 'batchPut' | 'batchRestore'>;

/** The writes of a datastore, with what is to be sealed of their bodies sealed before it sees them. */
export function sealedWrites(stored: Datastore, parts: SealedParts): Writes {
  async function sealed<Given extends NewCell>(
    cells: readonly Given[],
    prefixOf: (position: number) => string,
  ): Promise<readonly SealedCell<Given>[]> {
    return sealCells(stored.name, await parts.paths(), { cells, prefixOf, sealing: parts.made });
  }

  function batchOf<Given extends NewCell>(
    put: (cells: readonly Given[], options?: PutOptions) => Promise<readonly PutResult[]>,
  ) {
    return async (given: readonly Given[], options?: PutOptions): Promise<readonly PutResult[]> => {
      const cells = await sealed(
        parseBatch(given, 'cells', (cell) => cell),
        (position) => `cells[${position}].`,
      );
      return resultsOf(stored, parts, cells, await put(fitOf(cells), options));
    };
  }

  return {
    async put(cell, options) {
      const cells = await sealed([cell], () => '');
      const results = await Promise.all(fitOf(cells).map((fit) => stored.put(fit, options)));
      const [result] = await resultsOf(stored, parts, cells, results);
      if (!result) throw new Error('a put without an outcome');
      return result;
    },
    batchPut: batchOf(stored.batchPut),
    batchRestore: batchOf(stored.batchRestore),
  };
}

/** Those that name a forgotten subject are not written. */
function fitOf<Given extends NewCell>(cells: readonly SealedCell<Given>[]): readonly Given[] {
  return cells.flatMap(({ cell }) => cell ?? []);
}

/** The outcomes in the order of the cells, with those of the cells that were not written. */
function resultsOf(
  stored: Datastore,
  parts: SealedParts,
  cells: readonly SealedCell<NewCell>[],
  written: readonly PutResult[],
): Promise<readonly PutResult[]> {
  const results = written.values();
  return Promise.all(
    cells.map((one): PutResult | Promise<PutResult> => {
      if (!one.forgotten) return judged(stored, parts, one, results.next().value as PutResult);
      const { row_key, field } = one.forgotten;
      return { outcome: 'subject_forgotten', shard: shardOf(row_key, stored.shards), field };
    }),
  );
}

/**
 * The same value may have been sealed in other bytes: with its keys in another order, or before its field was sealed, or
 * indexed. Cells are compared by their values, as ever.
 */
async function judged(
  stored: Datastore,
  { paths, known }: SealedParts,
  { cell, plain }: { readonly cell: NewCell; readonly plain: Json },
  result: PutResult,
): Promise<PutResult> {
  if (result.outcome !== 'conflict' || result.added_id === undefined) return result;
  const ofColumn = await paths();
  if (!ofColumn.has(cell.column_name)) return result;
  const { cell: there } = await stored.get(cell);
  if (!there || there.erased) return result;
  const [opened] = await openCells(stored.name, ofColumn, { cells: [there], sealing: known });
  if (!opened || opened.error || opened.forgotten || !equalJson(opened.body, plain)) return result;
  const { shard, added_id, created_at } = opened;
  return { outcome: 'stored_before', shard, added_id, created_at };
}

import { parseBatch, shardOf } from '../address.ts';
import { equalJson } from '../body/equal.ts';
import {
  LIMITS,
  type CellAddress,
  type Json,
  type NewCell,
  type PutResult,
  type RowTransaction,
  type TransactionResult,
} from '../cell.ts';
import type { Datastore } from '../contract/datastore.ts';
import { SchemalessError } from '../errors.ts';
import { openCells } from './open-cells.ts';
import { sealCells, type SealedCell, type SealedParts } from './seal-cells.ts';

type Writes = Pick<Datastore, 'put' | 'batchPut' | 'transact' | 'batchRestore'>;

/** Returns the writes of a datastore, which seal fields before the datastore sees them. */
export function sealedWrites(stored: Datastore, parts: SealedParts): Writes {
  async function sealed<Given extends NewCell>(
    cells: readonly Given[],
    prefixOf: (position: number) => string,
  ): Promise<readonly SealedCell<Given>[]> {
    return sealCells(stored.name, await parts.paths(), cells, prefixOf, parts.made);
  }

  function batchOf<Given extends NewCell>(put: (cells: readonly Given[]) => Promise<readonly PutResult[]>) {
    return async (given: readonly Given[]): Promise<readonly PutResult[]> => {
      const parsed = parseBatch(given, 'cells', (cell) => cell);
      const cells = await sealed(parsed, (position) => `cells[${position}].`);
      return resultsOf(stored, parts, cells, await put(fitOf(cells)));
    };
  }

  return {
    async put(cell) {
      const cells = await sealed([cell], () => '');
      const results = await Promise.all(fitOf(cells).map((fit) => stored.put(fit)));
      const [result] = await resultsOf(stored, parts, cells, results);
      if (!result) throw new Error('a put without an outcome');
      return result;
    },
    batchPut: batchOf(stored.batchPut),
    async transact(transaction) {
      const { row_key } = transaction;
      const given = parseBatch(transaction.cells, 'cells', (cell) => ({ ...cell, row_key }), LIMITS.transactionCells);
      const cells = await sealed(given, (position) => `cells[${position}].`);
      for (const { forgotten } of cells)
        if (forgotten)
          return {
            outcome: 'subject_forgotten',
            shard: shardOf(forgotten.row_key, stored.shards),
            field: forgotten.field,
          };
      const result = await transactAgain(stored, parts, { ...transaction, cells });
      if (result.outcome !== 'condition_failed') return result;
      const latest = await openCells(
        stored.name,
        parts,
        result.failed.flatMap((condition) => condition.latest ?? []),
      );
      const opened = latest.values();
      const failed = result.failed.map((one) => ({ ...one, latest: one.latest && (opened.next().value ?? null) }));
      return { ...result, failed };
    },
    batchRestore: batchOf(stored.batchRestore),
  };
}

/** A transaction with sealed cells. */
type SealedTransaction = Omit<RowTransaction, 'cells'> & { readonly cells: readonly SealedCell<NewCell>[] };

/** Writes a transaction. If it is refused, tries again with the stored bytes of the cells that have equal values. */
async function transactAgain(
  stored: Datastore,
  parts: SealedParts,
  transaction: SealedTransaction,
): Promise<TransactionResult> {
  const cells = fitOf(transaction.cells);
  const result = await stored.transact({ ...transaction, cells });
  const { outcome, shard } = result;
  if (outcome !== 'conflict' && outcome !== 'condition_failed') return result;
  const refusal: PutResult = { outcome: 'conflict', shard, added_id: 0 };
  const asked = transaction.cells.map((one) => ({ one: one as Written['one'], result: { ...refusal } }));
  const judged = await judge(stored, parts, asked);
  const unseen = judged.find((one) => one.outcome === 'unavailable');
  if (unseen) return unseen as TransactionResult;
  const equal = cells.filter((_, position) => judged[position]?.outcome === 'stored_before');
  if (equal.length === 0) return result;
  const bodies = new Map<NewCell, Json>();
  for (const [position, item] of (await stored.batchGet(equal.map(addressOf))).entries()) {
    if (!item || !('row_key' in item) || item.error) return result;
    bodies.set(equal[position] as NewCell, item.body);
  }
  return stored.transact({
    ...transaction,
    cells: cells.map((cell) => ({ ...cell, body: bodies.get(cell) ?? cell.body })),
  });
}

/** Returns the cells to write: those that name no forgotten subject. */
function fitOf<Given extends NewCell>(cells: readonly SealedCell<Given>[]): readonly Given[] {
  return cells.flatMap(({ cell }) => cell ?? []);
}

interface Written {
  readonly one: SealedCell<NewCell> & { readonly forgotten?: undefined };
  readonly result: PutResult;
}

/** Returns the outcomes in the order of the cells, including cells that were not written. */
async function resultsOf(
  stored: Datastore,
  parts: SealedParts,
  cells: readonly SealedCell<NewCell>[],
  written: readonly PutResult[],
): Promise<readonly PutResult[]> {
  const results = written.values();
  const fit = cells.flatMap((one): Written | readonly [] =>
    one.forgotten ? [] : { one, result: results.next().value as PutResult },
  );
  const judged = (await judge(stored, parts, fit)).values();
  return cells.map(({ forgotten }) => {
    if (!forgotten) return judged.next().value as PutResult;
    const { row_key, field } = forgotten;
    return { outcome: 'subject_forgotten', shard: shardOf(row_key, stored.shards), field };
  });
}

/**
 * Compares conflicts by their values, in one read: the same value has other bytes from before its field was sealed or
 * indexed. A cell that does not open, or is too large, stays a conflict; an unreachable one is `unavailable`.
 */
async function judge(
  stored: Datastore,
  parts: SealedParts,
  written: readonly Written[],
): Promise<readonly PutResult[]> {
  const conflicts = written.filter(({ result }) => result.outcome === 'conflict' && result.added_id !== undefined);
  if (conflicts.length === 0) return written.map(({ result }) => result);
  let judged: ReadonlyMap<PutResult, PutResult>;
  try {
    judged = await compare(stored, parts, conflicts);
  } catch (error) {
    // The other outcomes stand.
    judged = new Map(conflicts.map(({ result }) => [result, unread(result, error)]));
  }
  return written.map(({ result }) => judged.get(result) ?? result);
}

async function compare(
  stored: Datastore,
  { paths, known }: SealedParts,
  conflicts: readonly Written[],
): Promise<ReadonlyMap<PutResult, PutResult>> {
  const judged = new Map<PutResult, PutResult>();
  const ofColumn = await paths();
  const asked = conflicts.filter(({ one }) => ofColumn.has(one.cell.column_name));
  if (asked.length === 0) return judged;
  const items = await stored.batchGet(asked.map(({ one: { cell } }) => addressOf(cell)));
  const found = asked.flatMap(({ one, result }, position) => {
    const there = items[position];
    if (there && 'error' in there && !('row_key' in there)) judged.set(result, unread(result, there.error));
    return there && 'row_key' in there && !there.erased ? [{ one, result, there }] : [];
  });
  const stands = found.map(({ there }) => there);
  const opened = await openCells(stored.name, { paths, known }, stands);
  for (const [position, { one, result }] of found.entries()) {
    const cell = opened[position];
    if (!cell || cell.error || cell.forgotten || !equalJson(cell.body, one.plain)) continue;
    const { shard, added_id, created_at } = cell;
    judged.set(result, { outcome: 'stored_before', shard, added_id, created_at });
  }
  return judged;
}

/** Returns the outcome of a conflict whose stored cell was not read. */
function unread(result: PutResult, error: unknown): PutResult {
  if (!(error instanceof SchemalessError) || error.code !== 'unavailable') return result;
  return { outcome: 'unavailable', shard: result.shard, reason: error.message };
}

const addressOf = ({ row_key, column_name, ref_key }: NewCell): CellAddress => ({ row_key, column_name, ref_key });

import { setTimeout as sleep } from 'node:timers/promises';
import type { CellAddress, NewCell, PutResult, TransactionResult } from '../../../shared/cell.ts';
import type { Random } from '../../support/random.ts';
import { markOf } from '../stored-cells.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';

export interface Told extends CellAddress {
  readonly mark: number;
  readonly shard: number;
  readonly outcome: PutResult['outcome'];
  /** 0 without an answer. */
  readonly added_id: number;
}

/** The same, with its time. */
export interface Answer extends Told {
  /** Milliseconds since 1970, by the machine's clock, which the servers also read; truncated, not rounded. */
  readonly begun: number;
  readonly ended: number;
  /** The duration of the call. */
  readonly milliseconds: number;
  /** A group that was to take a copy, or to give one back, failed during the call. */
  readonly hintFailed: boolean;
}

/** Asks once for one cell or a batch; the answers come in the order of the cells. */
type Asker = (cells: readonly NewCell[], isTransaction?: boolean) => Promise<readonly Answer[]>;

export interface AskerOptions {
  readonly writer: Pick<CellWriter, 'put' | 'batchPut' | 'transact'>;
  /** Returns how often groups that were to take copies, or to give them back, have failed so far. */
  readonly hintFailures?: () => number;
}

export function toldOf(cell: NewCell, result: PutResult): Told {
  const { row_key, column_name, ref_key } = cell;
  const added_id = ('added_id' in result && result.added_id) || 0;
  return { row_key, column_name, ref_key, mark: markOf(cell), shard: result.shard, outcome: result.outcome, added_id };
}

/** Returns whether the truth is known: any other answer allows a retry. */
export function isTold({ outcome }: Told): boolean {
  return outcome === 'stored' || outcome === 'stored_before' || outcome === 'conflict';
}

/** Writes cells with a put, with a batch-put if there are several, or as a transaction. */
export function asker({ writer, hintFailures = () => 0 }: AskerOptions): Asker {
  return async (cells, isTransaction = false) => {
    const [first] = cells;
    if (!first) return [];
    const [begun, start, failuresBefore] = [Date.now(), performance.now(), hintFailures()];
    const results =
      isTransaction && writer.transact
        ? resultsOf(cells, await writer.transact({ row_key: first.row_key, cells }))
        : cells.length > 1
          ? await writer.batchPut(cells)
          : [await writer.put(first)];
    const timing = {
      begun,
      ended: Date.now(),
      milliseconds: performance.now() - start,
      hintFailed: hintFailures() > failuresBefore,
    };
    return cells.map((cell, position) => ({ ...toldOf(cell, results[position] as PutResult), ...timing }));
  };
}

/** Returns the outcome of a transaction for each of its cells. */
export function resultsOf(cells: readonly NewCell[], result: TransactionResult): readonly PutResult[] {
  if ('added_ids' in result) {
    const { outcome, shard, added_ids } = result;
    return added_ids.map((added_id) => ({ outcome, shard, added_id }));
  }
  const { outcome, shard } = result;
  return cells.map(() => (outcome === 'condition_failed' ? { outcome: 'conflict', shard } : (result as PutResult)));
}

export interface Patience {
  /** The random pause between two tries, in milliseconds. */
  readonly leastMs: number;
  readonly mostMs: number;
  /** The time after which it gives up. */
  readonly wholeMs: number;
}

/** Retries the cells whose truth is not known, until it is. Returns all further answers. */
export async function askUntilTold(
  ask: Asker,
  cells: readonly NewCell[],
  first: readonly Answer[],
  random: Random,
  { leastMs, mostMs, wholeMs }: Patience,
): Promise<readonly Answer[]> {
  const further: Answer[] = [];
  const end = performance.now() + wholeMs;
  let open = cells.filter((_, position) => !first[position] || !isTold(first[position]));
  while (open.length > 0 && performance.now() < end) {
    await sleep(random.between(leastMs, mostMs));
    const answers = await ask(open);
    further.push(...answers);
    open = open.filter((_, position) => !isTold(answers[position] as Answer));
  }
  return further;
}

export interface CellWriter extends AsyncDisposable {
  put(cell: NewCell): Promise<PutResult>;
  batchPut(cells: readonly NewCell[]): Promise<readonly PutResult[]>;
  /** Not of plain tables. */
  readonly transact?: Datastore['transact'];
  /** Available in a store. */
  readonly get?: Datastore['get'];
}

import { parseAddress } from '../address.ts';
import { jsonBytes } from '../body/measure.ts';
import { LIMITS, type NewCell, type PutResult } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { asError } from './problem.ts';
import { checkCell } from './cell-writes.ts';
import type { SchemalessClient } from './client.ts';
import { pauseOrEnd } from './pause.ts';

export interface WriteOptions {
  /** Ends it: what was taken and is not known to be stored is returned as undone. */
  readonly signal?: AbortSignal | undefined;
  /** How often an item is tried that is unavailable, with pauses of up to two seconds. @default 10 */
  readonly tries?: number | undefined;
  /** Called once a cell with its end. If it throws, nothing more is taken; what was taken ends, then that is thrown. */
  readonly onResult?: ((end: PutEnd) => void) | undefined;
}

/** What became of a cell; `position` is that in what was given, from 0. */
export type PutEnd = { readonly cell: NewCell; readonly position: number } & (
  | { readonly result: PutResult; readonly error?: undefined }
  | { readonly error: SchemalessError; readonly result?: undefined }
);

export interface PutAllResult {
  readonly stored: number;
  readonly stored_before: number;
  readonly buffered: number;
  readonly conflict: number;
  /** Those to where nothing may be written any more. */
  readonly erased: number;
  /** Those that name a subject that was forgotten. */
  readonly subject_forgotten: number;
  /** Every cell that is not there: what is in conflict, erased or of a forgotten subject, was refused, or not confirmed. Empty: all is done. */
  readonly undone: readonly { readonly cell: NewCell; readonly position: number; readonly error: SchemalessError }[];
}

export interface BatchCell {
  readonly cell: NewCell;
  readonly position: number;
  readonly bytes: number;
}

const AROUND_BYTES = 160;
export const TRIES = 10;
const NOT_CONFIRMED = 'The write was not confirmed';

/** Writes batches until each of their cells has its end, and counts the ends. */
export class BatchWriter {
  readonly #client: Pick<SchemalessClient, 'batchPut'>;
  readonly #options: WriteOptions;
  readonly #counts = { stored: 0, stored_before: 0, buffered: 0, conflict: 0, erased: 0, subject_forgotten: 0 };
  readonly #undone: PutAllResult['undone'][number][] = [];
  /** What the caller's own function has thrown. */
  readonly mistakes: unknown[] = [];

  constructor(client: Pick<SchemalessClient, 'batchPut'>, options: WriteOptions) {
    this.#client = client;
    this.#options = options;
  }

  get result(): PutAllResult {
    return { ...this.#counts, undone: this.#undone };
  }

  /** A malformed cell would have its whole batch refused. */
  check({ cell, position }: Omit<BatchCell, 'bytes'>): BatchCell | undefined {
    try {
      const checked = checkCell(cell);
      const bytes = jsonBytes(checked.body) + 6 * checked.column_name.length + AROUND_BYTES;
      return { cell: checked, position, bytes };
    } catch (error) {
      this.#fail({ cell, position }, error);
      return undefined;
    }
  }

  async write(batch: readonly BatchCell[]): Promise<void> {
    const { tries = TRIES, signal } = this.#options;
    let left = batch;
    for (let tried = 1; left.length > 0; tried += 1) {
      const again = await this.#tryOnce(left);
      const isLast = tried >= tries || !(again.length === 0 || (await pauseOrEnd(tried, signal)));
      if (isLast) for (const { item, error } of again) this.#fail(item, error);
      left = isLast ? [] : again.map(({ item }) => item);
    }
  }

  /** Returns those that may be stored if they are tried again, and why they were not. */
  async #tryOnce(items: readonly BatchCell[]): Promise<readonly Untold[]> {
    try {
      const results = await this.#client.batchPut(items.map(({ cell }) => cell));
      return items.flatMap((item, position) => this.#take(item, results[position]));
    } catch (thrown) {
      return this.#untangle(items, thrown);
    }
  }

  #take(item: BatchCell, result: PutResult | undefined): readonly Untold[] {
    if (result !== undefined && result.outcome !== 'unavailable') {
      const { cell, position } = item;
      this.#counts[result.outcome] += 1;
      this.#tell({ cell, position, result }, errorOf(cell, result));
      return [];
    }
    const reason = result === undefined ? 'the answer lacks this cell' : result.reason;
    return [{ item, error: new SchemalessError('unavailable', `${NOT_CONFIRMED}: ${reason}`) }];
  }

  /** A batch was refused: the cell at fault alone, where one is named; else in halves, where it is too large. */
  async #untangle(items: readonly BatchCell[], thrown: unknown): Promise<readonly Untold[]> {
    if (!(thrown instanceof SchemalessError) || thrown.retry === 'later')
      return items.map((item) => ({ item, error: thrown }));
    const [, at] = /^cells\[(\d+)\]/.exec(thrown.field ?? '') ?? [];
    const wrong = at === undefined ? undefined : items[Number(at)];
    if (wrong !== undefined) {
      this.#fail(wrong, thrown);
      const others = items.filter((item) => item !== wrong);
      return others.length === 0 ? [] : this.#tryOnce(others);
    }
    if (thrown.code === 'request_too_large' && items.length > 1) {
      const half = Math.ceil(items.length / 2);
      const [again, rest] = [await this.#tryOnce(items.slice(0, half)), items.slice(half)];
      // The rest may hold later cells of a row whose earlier one is tried again.
      const [first] = again;
      return first ? [...again, ...rest.map((item) => ({ ...first, item }))] : this.#tryOnce(rest);
    }
    for (const item of items) this.#fail(item, thrown);
    return [];
  }

  #fail({ cell, position }: Omit<BatchCell, 'bytes'>, thrown: unknown): void {
    const error = asError(thrown, NOT_CONFIRMED);
    this.#tell({ cell, position, error }, error);
  }

  #tell(end: PutEnd, undone: SchemalessError | undefined): void {
    if (undone !== undefined) this.#undone.push({ cell: end.cell, position: end.position, error: undone });
    try {
      this.#options.onResult?.(end);
    } catch (mistake) {
      this.mistakes.push(mistake);
    }
  }
}

/** Divides items into batches of as many cells as the API takes, and at most so many bytes, or one item. */
export function* inBatches<Item>(
  items: readonly Item[],
  bytesOf: (item: Item) => number,
  mostBytes: number,
): Generator<readonly Item[]> {
  let batch: Item[] = [];
  let sum = 0;
  for (const item of items) {
    const bytes = bytesOf(item);
    if (batch.length === LIMITS.batchCells || (batch.length > 0 && sum + bytes > mostBytes)) {
      yield batch;
      [batch, sum] = [[], 0];
    }
    batch.push(item);
    sum += bytes;
  }
  if (batch.length > 0) yield batch;
}

interface Untold {
  readonly item: BatchCell;
  readonly error: unknown;
}

/** Why a cell is not there; undefined where it is, or will be. */
function errorOf(cell: NewCell, result: PutResult): SchemalessError | undefined {
  const { outcome } = result;
  if (outcome !== 'conflict' && outcome !== 'erased' && outcome !== 'subject_forgotten') return undefined;
  const address = parseAddress(cell);
  if (outcome === 'subject_forgotten')
    return new SchemalessError(outcome, 'Its subject was forgotten', { address, field: result.field });
  return new SchemalessError(outcome, 'The address is taken', { address });
}

import { parseAddress } from '../address.ts';
import { jsonBytes } from '../body/measure.ts';
import { LIMITS, type NewCell, type PutResult } from '../cell.ts';
import { refusalOf } from '../confirmed.ts';
import { SchemalessError } from '../errors.ts';
import { asError } from './problem.ts';
import { checkCell } from './cell-writes.ts';
import type { SchemalessClient } from './client.ts';
import { pauseOrEnd } from './pause.ts';

export interface WriteOptions {
  /** Ends it: cells taken but not known to be stored are returned as undone. */
  readonly signal?: AbortSignal | undefined;
  /** Attempts for an unavailable item, with pauses of up to two seconds. @default 10 */
  readonly tries?: number | undefined;
  /** Called once with each cell's end. If it throws, no more cells begin; that is thrown once those under way end. */
  readonly onResult?: ((end: PutEnd) => void) | undefined;
}

/** The end of a cell; `position` is its position in the input, from 0. */
export type PutEnd = { readonly cell: NewCell; readonly position: number } & (
  | { readonly result: PutResult; readonly error?: undefined }
  | { readonly error: SchemalessError; readonly result?: undefined }
);

export interface PutAllResult {
  readonly stored: number;
  readonly stored_before: number;
  readonly buffered: number;
  readonly conflict: number;
  /** Cells whose addresses are erased. */
  readonly erased: number;
  /** Cells that name a forgotten subject. */
  readonly subject_forgotten: number;
  /** Every cell not stored: in conflict, erased, of a forgotten subject, refused or unconfirmed. Empty: all is done. */
  readonly undone: readonly { readonly cell: NewCell; readonly position: number; readonly error: SchemalessError }[];
}

export interface BatchCell {
  readonly cell: NewCell;
  /** The caller's cell, if another one is written in its place. */
  readonly given?: NewCell;
  readonly position: number;
  readonly bytes: number;
}

/** Returns the cell to write in place of the given one. Throws SchemalessError for one that is refused. */
export type Prepare = (cell: NewCell) => Promise<NewCell>;

const AROUND_BYTES = 160;
export const TRIES = 10;
const NOT_CONFIRMED = 'The write was not confirmed';

/** Writes batches until each of their cells has its end, and counts the ends. */
export class BatchWriter {
  readonly #client: Pick<SchemalessClient, 'batchPut'>;
  readonly #options: WriteOptions;
  readonly #prepare: Prepare;
  readonly #counts = { stored: 0, stored_before: 0, buffered: 0, conflict: 0, erased: 0, subject_forgotten: 0 };
  readonly #undone: PutAllResult['undone'][number][] = [];
  /** Errors that the caller's own functions have thrown, such as a validator. */
  readonly mistakes: unknown[] = [];

  constructor(
    client: Pick<SchemalessClient, 'batchPut'>,
    options: WriteOptions,
    prepare: Prepare = (cell) => Promise.resolve(cell),
  ) {
    this.#client = client;
    this.#options = options;
    this.#prepare = prepare;
  }

  get result(): PutAllResult {
    return { ...this.#counts, undone: this.#undone };
  }

  /** Checks a cell: a malformed one would fail its whole batch. */
  async check({ cell, position }: Omit<BatchCell, 'bytes'>): Promise<BatchCell | undefined> {
    try {
      const checked = checkCell(await this.#prepare(cell));
      const bytes = jsonBytes(checked.body) + 6 * checked.column_name.length + AROUND_BYTES;
      return { cell: checked, given: cell, position, bytes };
    } catch (error) {
      if (error instanceof SchemalessError) this.#fail({ cell, position }, error);
      else this.mistakes.push(error);
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

  /** Returns the cells that a retry may store, and why they were not stored. */
  async #tryOnce(items: readonly BatchCell[]): Promise<readonly Untold[]> {
    try {
      const results = await this.#client.batchPut(items.map(({ cell }) => cell));
      return items.flatMap((item, position) => this.#take(item, results[position]));
    } catch (thrown) {
      return this.#untangle(items, thrown);
    }
  }

  #take(item: BatchCell, result: PutResult | undefined): readonly Untold[] {
    const { cell, given = cell, position } = item;
    if (result === undefined || result.outcome === 'unavailable') {
      const reason = result?.reason ?? 'the answer lacks this cell';
      const details = { address: parseAddress(cell) };
      return [{ item, error: new SchemalessError('unavailable', `${NOT_CONFIRMED}: ${reason}`, details) }];
    }
    this.#counts[result.outcome] += 1;
    this.#tell({ cell: given, position, result }, refusalOf(cell, result));
    return [];
  }

  /** Handles a refused batch: fails the cell that the error names, or halves a batch that is too large. */
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
      // The rest may contain later cells of a row whose earlier one is retried.
      const [first] = again;
      return first ? [...again, ...rest.map((item) => ({ ...first, item }))] : this.#tryOnce(rest);
    }
    for (const item of items) this.#fail(item, thrown);
    return [];
  }

  #fail({ cell, given = cell, position }: Omit<BatchCell, 'bytes'>, thrown: unknown): void {
    const error = asError(thrown, NOT_CONFIRMED);
    this.#tell({ cell: given, position, error }, error);
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

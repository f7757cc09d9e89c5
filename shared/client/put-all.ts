import { parseAddress, parseCount, shardOf } from '../address.ts';
import { jsonBytes } from '../body/measure.ts';
import { LIMITS, type NewCell, type PutResult } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { asError } from './as-error.ts';
import { within } from './bounds.ts';
import { checkCell } from './cell-writes.ts';
import type { SchemalessClient } from './client.ts';
import { isAborted, pauseOrEnd } from './pause.ts';

export interface PutAllOptions {
  /** Batches under way at once, 1 to 64. @default 4 */
  readonly concurrency?: number | undefined;
  /** Ends it: what was taken and is not known to be stored is returned as undone. */
  readonly signal?: AbortSignal | undefined;
  /** How often an item is tried that is unavailable, with pauses of up to two seconds. @default 10 */
  readonly tries?: number | undefined;
  /**
   * Called once for each cell, as soon as its end is known. Where it throws, nothing more is taken, what was taken has
   * its end, and then that is thrown.
   */
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

/** What goes around a cell in a request, at most, besides its body and column name. */
const AROUND_BYTES = 160;
const REQUEST_BYTES = LIMITS.requestBytes - 64;
const CONCURRENCY = 4;
/** Of requests of 4 MiB. */
const MOST_CONCURRENCY = 64;
const TRIES = 10;
const NOT_CONFIRMED = 'The write was not confirmed';

/**
 * Writes any number of cells, in batches. Cells of a row are written in the order in which they come; one that is
 * buffered, or had to be tried again, may come behind others of its batch. A cell that is refused costs itself alone;
 * one that is unavailable is tried again. Never throws for what becomes of cells: what is not there afterwards is
 * returned, item by item. Repeating it with the same cells is safe.
 *
 * Batches hold cells of neighbouring shards of a group, as far as the groups are known, so that few commits store them.
 *
 * ```ts
 * const { stored, undone } = await putAll(trips, readCells(file), { concurrency: 8 });
 * ```
 *
 * @param cells read as fast as they are written; what it throws is thrown on, once what was under way has ended
 * @throws SchemalessError `invalid_field` for a `concurrency` that is none, before anything is sent
 */
export async function putAll(
  client: Pick<SchemalessClient, 'batchPut' | 'heads' | 'with'>,
  cells: Iterable<NewCell> | AsyncIterable<NewCell>,
  options: PutAllOptions = {},
): Promise<PutAllResult> {
  const { signal } = options;
  const concurrency = parseConcurrency(options.concurrency);
  const bounded = signal === undefined ? client : client.with({ signal });
  const writer = new Writer(bounded, options);
  const laneOf = await lanesBy(bounded, concurrency);
  const lanes = Array.from({ length: concurrency }, () => new Lane(writer));
  let position = -1;
  try {
    if (!isAborted(signal))
      for await (const cell of signal && Symbol.asyncIterator in cells ? untilAborted(cells, signal) : cells) {
        position += 1;
        const checked = writer.check({ cell, position });
        if (checked) await (lanes[laneOf(checked.cell.row_key)] as Lane).add(checked);
        if (writer.mistakes.length > 0 || isAborted(signal)) break;
      }
  } finally {
    await Promise.all(lanes.map((lane) => lane.end()));
  }
  if (writer.mistakes.length > 0) throw writer.mistakes[0];
  return writer.result;
}

/** Batches under way at once. Throws `invalid_field`. */
export function parseConcurrency(given = CONCURRENCY): number {
  return parseCount(given, 'concurrency', 1, MOST_CONCURRENCY);
}

/** Those that come before the signal, also where nothing more would ever come. */
async function* untilAborted<Item>(items: AsyncIterable<Item>, signal: AbortSignal): AsyncGenerator<Item> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await within({ signal }, iterator.next());
      if (done === true) return;
      yield value;
    }
  } catch (error) {
    if (!isAborted(signal)) throw error;
  } finally {
    // Nobody waits: one that does not come forth does not end, either.
    iterator.return?.().catch(() => undefined);
  }
}

/**
 * Which lane takes a row: neighbouring shards of a group the same one. Where nobody says which shards there are, rows
 * are divided all the same.
 */
async function lanesBy(client: Pick<SchemalessClient, 'heads'>, lanes: number): Promise<(rowKey: string) => number> {
  const heads = await client.heads().catch(() => []);
  const inOrder = [...heads].sort((a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : a.shard - b.shard));
  const laneOfShard = new Map(inOrder.map(({ shard }, rank) => [shard, Math.floor((rank * lanes) / heads.length)]));
  return (rowKey) => laneOfShard.get(shardOf(rowKey, heads.length)) ?? shardOf(rowKey, lanes);
}

interface Item {
  readonly cell: NewCell;
  readonly position: number;
  readonly bytes: number;
}

/** Batches that are written one after the other. */
class Lane {
  readonly #writer: Writer;
  #waiting: Item[] = [];
  #bytes = 0;
  #underWay: Promise<void> = Promise.resolve();

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  async add(item: Item): Promise<void> {
    if (this.#bytes + item.bytes > REQUEST_BYTES) await this.#send();
    this.#waiting.push(item);
    this.#bytes += item.bytes;
    if (this.#waiting.length === LIMITS.batchCells) await this.#send();
  }

  async end(): Promise<void> {
    await this.#send();
    await this.#underWay;
  }

  /** Once the batch before is done. */
  async #send(): Promise<void> {
    await this.#underWay;
    const batch = this.#waiting;
    [this.#waiting, this.#bytes] = [[], 0];
    if (batch.length === 0) return;
    this.#underWay = this.#writer.write(batch);
  }
}

class Writer {
  readonly #client: Pick<SchemalessClient, 'batchPut'>;
  readonly #options: PutAllOptions;
  readonly #counts = { stored: 0, stored_before: 0, buffered: 0, conflict: 0, erased: 0, subject_forgotten: 0 };
  readonly #undone: PutAllResult['undone'][number][] = [];
  /** What the caller's own function has thrown. */
  readonly mistakes: unknown[] = [];

  constructor(client: Pick<SchemalessClient, 'batchPut'>, options: PutAllOptions) {
    this.#client = client;
    this.#options = options;
  }

  get result(): PutAllResult {
    return { ...this.#counts, undone: this.#undone };
  }

  /** A malformed cell would have its whole batch refused. */
  check({ cell, position }: Omit<Item, 'bytes'>): Item | undefined {
    try {
      const checked = checkCell(cell);
      const bytes = jsonBytes(checked.body) + 6 * checked.column_name.length + AROUND_BYTES;
      return { cell: checked, position, bytes };
    } catch (error) {
      this.#end({ cell, position }, error);
      return undefined;
    }
  }

  /** Until each cell has its end. */
  async write(batch: readonly Item[]): Promise<void> {
    const { tries = TRIES, signal } = this.#options;
    let left = batch;
    for (let tried = 1; left.length > 0; tried += 1) {
      const again = await this.#tryOnce(left);
      const isLast = tried >= tries || !(again.length === 0 || (await pauseOrEnd(tried, signal)));
      if (isLast) for (const { item, error } of again) this.#end(item, error);
      left = isLast ? [] : again.map(({ item }) => item);
    }
  }

  /** Returns those that may be stored if they are tried again, and why they were not. */
  async #tryOnce(items: readonly Item[]): Promise<readonly Untold[]> {
    try {
      const results = await this.#client.batchPut(items.map(({ cell }) => cell));
      return items.flatMap((item, position) => this.#take(item, results[position]));
    } catch (thrown) {
      return this.#untangle(items, thrown);
    }
  }

  #take(item: Item, result: PutResult | undefined): readonly Untold[] {
    if (result !== undefined && result.outcome !== 'unavailable') {
      this.#end(item, result);
      return [];
    }
    const reason = result === undefined ? 'the answer lacks this cell' : result.reason;
    return [{ item, error: new SchemalessError('unavailable', `${NOT_CONFIRMED}: ${reason}`) }];
  }

  /** A batch was refused: the cell at fault alone, where one is named; else in halves, where it is too large. */
  async #untangle(items: readonly Item[], thrown: unknown): Promise<readonly Untold[]> {
    if (!(thrown instanceof SchemalessError) || thrown.retry === 'later')
      return items.map((item) => ({ item, error: thrown }));
    const [, at] = /^cells\[(\d+)\]/.exec(thrown.field ?? '') ?? [];
    const wrong = at === undefined ? undefined : items[Number(at)];
    if (wrong !== undefined) {
      this.#end(wrong, thrown);
      const others = items.filter((item) => item !== wrong);
      return others.length === 0 ? [] : this.#tryOnce(others);
    }
    if (thrown.code === 'request_too_large' && items.length > 1) {
      const half = Math.ceil(items.length / 2);
      const first = await this.#tryOnce(items.slice(0, half));
      return [...first, ...(await this.#tryOnce(items.slice(half)))];
    }
    for (const item of items) this.#end(item, thrown);
    return [];
  }

  #end({ cell, position }: Omit<Item, 'bytes'>, end: unknown): void {
    const result = isResult(end) ? end : undefined;
    if (result !== undefined && result.outcome !== 'unavailable') this.#counts[result.outcome] += 1;
    const error = errorOf(cell, end);
    if (error !== undefined) this.#undone.push({ cell, position, error });
    try {
      if (result !== undefined) this.#options.onResult?.({ cell, position, result });
      else if (error !== undefined) this.#options.onResult?.({ cell, position, error });
    } catch (mistake) {
      this.mistakes.push(mistake);
    }
  }
}

interface Untold {
  readonly item: Item;
  readonly error: unknown;
}

function isResult(end: unknown): end is PutResult {
  return typeof end === 'object' && end !== null && 'outcome' in end;
}

/** Why a cell is not there; undefined where it is, or will be. */
function errorOf(cell: NewCell, end: unknown): SchemalessError | undefined {
  if (!isResult(end)) return asError(end, NOT_CONFIRMED);
  const { outcome } = end;
  if (outcome === 'subject_forgotten')
    return new SchemalessError(outcome, 'Its subject was forgotten', { address: parseAddress(cell), field: end.field });
  if (outcome !== 'conflict' && outcome !== 'erased') return undefined;
  return new SchemalessError(outcome, 'The address is taken', { address: parseAddress(cell) });
}

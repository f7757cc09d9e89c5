import { parseCount, shardOf } from '../address.ts';
import { LIMITS, type NewCell } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { BatchWriter, type BatchCell, type Prepare, type PutAllResult, type WriteOptions } from './batch-writer.ts';
import { within } from './bounds.ts';
import { ofClient, type OfClient } from './of-client.ts';
import type { SchemalessClient } from './client.ts';
import { isAborted } from './pause.ts';
import { asError } from './problem.ts';

export interface PutAllOptions extends WriteOptions {
  /** Batches under way at once, 1 to 64. @default 4 */
  readonly concurrency?: number | undefined;
}

const REQUEST_BYTES = LIMITS.requestBytes - 64;
const CONCURRENCY = 4;
/** Limits memory: requests have up to 4 MiB. */
const MOST_CONCURRENCY = 64;

type Batches = Pick<SchemalessClient, 'batchPut' | 'heads' | 'with'>;

/** Cells were not stored, or not known to be: the code and address are those of the first; `result` has them all. */
export class PutAllError extends SchemalessError {
  readonly #result: PutAllResult;

  constructor(first: SchemalessError, result: PutAllResult) {
    super(first.code, `${result.undone.length} of the cells are not stored: ${first.message}`, first.details);
    this.name = 'PutAllError';
    this.#result = result;
  }

  /** No property, since logs show those, and it has bodies. */
  get result(): PutAllResult {
    return this.#result;
  }
}

/**
 * Writes any number of cells, in batches. Cells of a row are written in their order, except that a buffered or retried
 * cell may follow others of its batch. A refused cell affects no other; an unavailable one is retried. It can be
 * repeated with the same cells safely.
 *
 * Batches contain cells of neighbouring shards of a group, if the groups are known, so few commits store them.
 *
 * ```ts
 * const { stored } = await putAll(trips, readCells(file), { concurrency: 8 });
 * ```
 *
 * @param prepare changes or refuses each cell before it is written
 * @param cells read as fast as they are written; rethrows its error once writes under way have ended
 * @throws PutAllError once all have ended, if some are not stored, or its signal ended it
 * @throws SchemalessError `invalid_field` for an invalid `concurrency`, before it sends anything
 */
export async function putAll<Client>(
  client: OfClient<Client, Batches>,
  cells: Iterable<NewCell> | AsyncIterable<NewCell>,
  options?: PutAllOptions,
  prepare?: Prepare,
): Promise<Omit<PutAllResult, 'undone'>> {
  const result = await tryPutAll(ofClient<Batches>(client, 'putAll'), cells, options, prepare);
  const { undone, ...counts } = result;
  const [first] = undone;
  if (first !== undefined) throw new PutAllError(first.error, result);
  if (isAborted(options?.signal))
    throw new PutAllError(asError(options?.signal?.reason, 'Its signal ended it'), result);
  return counts;
}

/** As `putAll`, but returns cells that are not stored in `undone`. */
export async function tryPutAll<Client>(
  given: OfClient<Client, Batches>,
  cells: Iterable<NewCell> | AsyncIterable<NewCell>,
  options: PutAllOptions = {},
  prepare?: Prepare,
): Promise<PutAllResult> {
  const client = ofClient<Batches>(given, 'tryPutAll');
  const { signal } = options;
  const concurrency = parseConcurrency(options.concurrency);
  const bounded = signal === undefined ? client : client.with({ signal });
  const writer = new BatchWriter(bounded, options, prepare);
  const laneOf = await lanesBy(bounded, concurrency);
  const lanes = Array.from({ length: concurrency }, () => new Lane(writer));
  let position = -1;
  try {
    if (!isAborted(signal))
      for await (const cell of signal && Symbol.asyncIterator in cells ? untilAborted(cells, signal) : cells) {
        position += 1;
        const checked = await writer.check({ cell, position });
        if (checked) await (lanes[laneOf(checked.cell.row_key)] as Lane).add(checked);
        if (writer.mistakes.length > 0 || isAborted(signal)) break;
      }
  } finally {
    await Promise.all(lanes.map((lane) => lane.end()));
  }
  if (writer.mistakes.length > 0) throw writer.mistakes[0];
  return writer.result;
}

export function parseConcurrency(given = CONCURRENCY): number {
  return parseCount(given, 'concurrency', 1, MOST_CONCURRENCY);
}

/** Yields items until the signal, even if no further item ever comes. */
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
    // Not awaited: an iterator that never yields may never end.
    iterator.return?.().catch(() => undefined);
  }
}

/** Gives neighbouring shards of a group the same lane. Divides rows by hash if the shards are unknown. */
async function lanesBy(client: Pick<SchemalessClient, 'heads'>, lanes: number): Promise<(rowKey: string) => number> {
  const heads = await client.heads().catch(() => []);
  const inOrder = [...heads].sort((a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : a.shard - b.shard));
  const laneOfShard = new Map(inOrder.map(({ shard }, rank) => [shard, Math.floor((rank * lanes) / heads.length)]));
  return (rowKey) => laneOfShard.get(shardOf(rowKey, heads.length)) ?? shardOf(rowKey, lanes);
}

class Lane {
  readonly #writer: BatchWriter;
  #waiting: BatchCell[] = [];
  #bytes = 0;
  #underWay: Promise<void> = Promise.resolve();

  constructor(writer: BatchWriter) {
    this.#writer = writer;
  }

  async add(item: BatchCell): Promise<void> {
    if (this.#bytes + item.bytes > REQUEST_BYTES) await this.#send();
    this.#waiting.push(item);
    this.#bytes += item.bytes;
    if (this.#waiting.length === LIMITS.batchCells) await this.#send();
  }

  async end(): Promise<void> {
    await this.#send();
    await this.#underWay;
  }

  async #send(): Promise<void> {
    await this.#underWay;
    const batch = this.#waiting;
    [this.#waiting, this.#bytes] = [[], 0];
    if (batch.length === 0) return;
    this.#underWay = this.#writer.write(batch);
  }
}

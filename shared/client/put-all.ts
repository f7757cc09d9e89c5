import { parseCount, shardOf } from '../address.ts';
import { LIMITS, type NewCell } from '../cell.ts';
import { BatchWriter, type BatchCell, type PutAllResult, type WriteOptions } from './batch-writer.ts';
import { within } from './bounds.ts';
import type { SchemalessClient } from './client.ts';
import { isAborted } from './pause.ts';

export interface PutAllOptions extends WriteOptions {
  /** Batches under way at once, 1 to 64. @default 4 */
  readonly concurrency?: number | undefined;
}

const REQUEST_BYTES = LIMITS.requestBytes - 64;
const CONCURRENCY = 4;
/** Of requests of 4 MiB. */
const MOST_CONCURRENCY = 64;

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
  const writer = new BatchWriter(bounded, options);
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

/** Gives neighbouring shards of a group the same lane. Rows are divided anyway if the shards are unknown. */
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

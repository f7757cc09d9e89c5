import { LIMITS } from '../../../../shared/cell.ts';
import type { Entry } from './done-items.ts';
import type { PackedCell } from './source.ts';

/** A cell that waits to be sent, and what is to be told of it. */
export interface Waiting {
  readonly cell: PackedCell;
  readonly bytes: number;
  readonly entry: Entry;
}

/** Cells of shards that nothing else is under way for. */
export interface Batch {
  readonly items: readonly Waiting[];
  readonly shards: readonly number[];
}

/** Half of what a request may hold: escapes and addresses are not counted in a cell's bytes. */
const BATCH_BYTES = LIMITS.requestBytes / 2;

export interface QueueOptions {
  readonly shardOf: (rowKey: string) => number;
  /** Cells of one group go together, since their commits are joined. */
  readonly groupOf: (shard: number) => string;
  /** Cells of a batch at most. @default as many as the API takes */
  readonly batchCells?: number;
}

/**
 * Cells that wait, by their shards. Of a shard one batch is under way at a time, so that its cells, and those of each
 * row, are stored in the order in which they came. A batch takes all that waits of the shard that has waited longest,
 * and is filled up with the next ones of the same group: an append of many cells of a shard costs hardly more than that
 * of one.
 */
export class ShardQueues {
  readonly #options: QueueOptions;
  readonly #batchCells: number;
  /** Of each group, the shards that may be sent; the one first that has waited longest. */
  readonly #ready = new Map<string, Map<number, Waiting[]>>();
  /** Shards of which a batch is under way, or that are to be left alone for now, and what came of them meanwhile. */
  readonly #busy = new Map<number, Waiting[]>();
  #cells = 0;
  #bytes = 0;
  #full = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#batchCells = options.batchCells ?? LIMITS.batchCells;
  }

  /** Cells that wait or are under way. */
  get cells(): number {
    return this.#cells;
  }

  /** What they take as text. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether some shard has a whole batch. */
  get hasFull(): boolean {
    return this.#full > 0;
  }

  add(item: Waiting): void {
    this.#cells += 1;
    this.#bytes += item.bytes;
    const shard = this.#options.shardOf(item.cell.row_key);
    const busy = this.#busy.get(shard);
    if (busy) {
      busy.push(item);
      return;
    }
    const ofGroup = this.#ofGroup(shard);
    const queue = ofGroup.get(shard);
    if (!queue) ofGroup.set(shard, [item]);
    else if (queue.push(item) === this.#batchCells) this.#full += 1;
  }

  /** The next batch, of the group that was asked least of late; undefined where nothing may be sent. */
  take(): Batch | undefined {
    for (const [group, ofGroup] of this.#ready) {
      if (ofGroup.size === 0) continue;
      // Its turn comes again behind all others.
      this.#ready.delete(group);
      this.#ready.set(group, ofGroup);
      return this.#takeOf(ofGroup);
    }
    return undefined;
  }

  /**
   * The batch is settled, but for what is given back: that comes before all else of its shards.
   *
   * @param back in the order of the batch
   */
  release({ items, shards }: Batch, back: readonly Waiting[]): void {
    const kept = new Set(back);
    for (const item of items) {
      if (kept.has(item)) continue;
      this.#cells -= 1;
      this.#bytes -= item.bytes;
    }
    const shardsBack = back.map(({ cell }) => this.#options.shardOf(cell.row_key));
    for (const shard of shards) {
      const again = back.filter((_, position) => shardsBack[position] === shard);
      const queue = [...again, ...(this.#busy.get(shard) ?? [])];
      this.#busy.delete(shard);
      if (queue.length > 0) this.#ofGroup(shard).set(shard, queue);
      if (queue.length >= this.#batchCells) this.#full += 1;
    }
  }

  #takeOf(ofGroup: Map<number, Waiting[]>): Batch {
    const items: Waiting[] = [];
    const shards: number[] = [];
    let bytes = 0;
    for (const [shard, queue] of ofGroup) {
      if (queue.length >= this.#batchCells) this.#full -= 1;
      const room = this.#batchCells - items.length;
      let count = 0;
      for (const item of queue) {
        if (count >= room || (items.length > 0 && bytes + item.bytes > BATCH_BYTES)) break;
        bytes += item.bytes;
        items.push(item);
        count += 1;
      }
      if (count === 0) {
        if (queue.length >= this.#batchCells) this.#full += 1;
        break;
      }
      shards.push(shard);
      ofGroup.delete(shard);
      this.#busy.set(shard, queue.slice(count));
      if (items.length >= this.#batchCells) break;
    }
    return { items, shards };
  }

  #ofGroup(shard: number): Map<number, Waiting[]> {
    const group = this.#options.groupOf(shard);
    let ofGroup = this.#ready.get(group);
    if (!ofGroup) this.#ready.set(group, (ofGroup = new Map()));
    return ofGroup;
  }
}

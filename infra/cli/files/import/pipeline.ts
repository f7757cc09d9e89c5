import { pauseMs } from '../../../../shared/client/pause.ts';
import type { SchemalessClient } from '../../../../shared/client/client.ts';
import { FilesError } from '../../../../shared/files/files-error.ts';
import { Bell } from './bell.ts';
import { sendBatch } from './send-batch.ts';
import { ShardQueues, type Batch, type QueueOptions, type Waiting } from './shard-queues.ts';

export interface PipelineOptions extends QueueOptions {
  readonly client: Pick<SchemalessClient, 'batchPut'>;
  /** Batches under way at once. */
  readonly concurrency: number;
  /** Cells that wait or are under way at most, */
  readonly windowCells: number;
  /** and what they take as text, in bytes. */
  readonly windowBytes: number;
  /** When nothing at all was settled for so long, it is given up. */
  readonly patienceMs: number;
}

/** Takes cells as fast as they can be stored, and no faster; sends those of a shard in order. */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #queues: ShardQueues;
  readonly #changed = new Bell();
  /** How often shards were refused in a row. */
  readonly #refusals = new Map<number, number>();
  readonly #senders: Promise<void>[];
  #isFlushing = false;
  #isEnded = false;
  #error: unknown;
  #settledAt = performance.now();

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#queues = new ShardQueues(options);
    this.#senders = Array.from({ length: options.concurrency }, () => this.#send());
  }

  /** Takes a cell once there is room. Throws what made the import fail. */
  async add(item: Waiting): Promise<void> {
    while (!this.#hasRoom && !this.#isEnded) await this.#changed.wait();
    this.#throwError();
    if (this.#isEnded) return;
    if (this.#queues.cells === 0) this.#settledAt = performance.now();
    this.#isFlushing = false;
    this.#queues.add(item);
    if (this.#queues.hasFull || !this.#hasRoom) this.#changed.ring();
  }

  /** Nothing more comes for a while: what waits is sent, in batches that are not full. */
  flush(): void {
    this.#isFlushing = true;
    this.#changed.ring();
  }

  /** Returns once all is settled, or it was stopped. */
  async drain(): Promise<void> {
    this.flush();
    while (this.#queues.cells > 0 && !this.#isEnded) await this.#changed.wait();
    await this.stop();
    this.#throwError();
  }

  /** Sends nothing more; returns once what is under way has ended. */
  async stop(): Promise<void> {
    this.#isEnded = true;
    this.#changed.ring();
    await Promise.all(this.#senders);
  }

  get #hasRoom(): boolean {
    const { windowCells, windowBytes } = this.#options;
    return this.#queues.cells < windowCells && this.#queues.bytes < windowBytes;
  }

  #throwError(): void {
    if (this.#error !== undefined) throw this.#error;
  }

  async #send(): Promise<void> {
    while (!this.#isEnded) {
      const batch = this.#isFlushing || this.#queues.hasFull || !this.#hasRoom ? this.#queues.take() : undefined;
      if (!batch) {
        await this.#changed.wait();
        continue;
      }
      try {
        this.#settle(batch, await this.#sendOne(batch));
      } catch (error) {
        this.#error ??= error;
        this.#isEnded = true;
      }
      this.#changed.ring();
    }
  }

  /** Returns what is to be sent again. */
  async #sendOne({ items }: Batch): Promise<readonly Waiting[]> {
    const settled = await sendBatch(this.#options.client, items);
    for (const [{ entry }, { end, reject }] of settled) {
      entry.end = end;
      entry.reject = reject;
    }
    if (settled.size > 0) this.#settledAt = performance.now();
    const { patienceMs } = this.#options;
    if (performance.now() - this.#settledAt > patienceMs)
      throw new FilesError(
        'no_progress',
        `Nothing was stored for ${Math.round(patienceMs / 1000)} s; the same command goes on where this one ended`,
      );
    return items.filter((item) => !settled.has(item));
  }

  #settle(batch: Batch, back: readonly Waiting[]): void {
    if (back.length === 0) {
      for (const shard of batch.shards) this.#refusals.delete(shard);
      this.#queues.release(batch, back);
      return;
    }
    const refusals = 1 + Math.max(...batch.shards.map((shard) => this.#refusals.get(shard) ?? 0));
    for (const shard of batch.shards) this.#refusals.set(shard, refusals);
    setTimeout(
      () => {
        this.#queues.release(batch, back);
        this.#changed.ring();
      },
      pauseMs(refusals, null),
    );
  }
}

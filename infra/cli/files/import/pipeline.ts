import { pauseMs } from '../../../../shared/client/pause.ts';
import type { SchemalessClient } from '../../../../shared/client/client.ts';
import { FilesError } from '../../../../shared/files/files-error.ts';
import { Bell } from './bell.ts';
import { sendBatch } from './send-batch.ts';
import { ShardQueues, type Batch, type QueueOptions, type Waiting } from './shard-queues.ts';

interface PipelineOptions extends QueueOptions {
  readonly client: Pick<SchemalessClient, 'batchPut'>;
  /** Batches under way at once. */
  readonly concurrency: number;
  /** Cells that wait or are under way at most, */
  readonly windowCells: number;
  /** and what they take as text, in bytes. */
  readonly windowBytes: number;
  /** When nothing at all was settled, or nothing of a shard, for so long, it is given up. */
  readonly patienceMs: number;
}

/** Takes cells as fast as they can be stored, and no faster; sends those of a shard in order. */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #queues: ShardQueues;
  readonly #changed = new Bell();
  /** How often shards were refused in a row, and since when. */
  readonly #refusals = new Map<number, { readonly count: number; readonly since: number }>();
  readonly #senders: Promise<void>[];
  #isFlushing = false;
  #isEnded = false;
  #error: unknown;
  #settledAt = performance.now();
  /** Why the last cell that was not taken was not. */
  #whyNot: string | undefined;

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

  /** Sends what waits; returns once something is settled, or it has ended. Throws what made the import fail. */
  async change(): Promise<void> {
    this.#throwError();
    if (this.#isEnded) return;
    this.flush();
    await this.#changed.wait();
    this.#throwError();
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
    this.#whyNot = settled.whyNot ?? this.#whyNot;
    for (const [{ entry }, { end, reject }] of settled) {
      entry.end = end;
      entry.reject = reject;
    }
    if (settled.size > 0) this.#settledAt = performance.now();
    if (performance.now() - this.#settledAt > this.#options.patienceMs) throw this.#noProgress('Nothing');
    return items.filter((item) => !settled.has(item));
  }

  #settle(batch: Batch, back: readonly Waiting[]): void {
    if (back.length === 0) {
      for (const shard of batch.shards) this.#refusals.delete(shard);
      this.#queues.release(batch, back);
      return;
    }
    const count = 1 + Math.max(...batch.shards.map((shard) => this.#refusals.get(shard)?.count ?? 0));
    const settled = this.#shardsOf(batch.items.filter(({ entry }) => entry.end !== undefined));
    const refused = this.#shardsOf(back);
    for (const shard of batch.shards) {
      const now = performance.now();
      const since = settled.has(shard) ? now : (this.#refusals.get(shard)?.since ?? now);
      if (!refused.has(shard)) this.#refusals.delete(shard);
      else if (now - since > this.#options.patienceMs) throw this.#noProgress(`Nothing of shard ${shard}`);
      else this.#refusals.set(shard, { count, since });
    }
    setTimeout(
      () => {
        this.#queues.release(batch, back);
        this.#changed.ring();
      },
      pauseMs(count, null),
    );
  }

  #shardsOf(items: readonly Waiting[]): ReadonlySet<number> {
    return new Set(items.map(({ cell }) => this.#options.shardOf(cell.row_key)));
  }

  #noProgress(what: string): FilesError {
    const seconds = Math.round(this.#options.patienceMs / 1000);
    return new FilesError(
      'no_progress',
      `${what} was stored for ${seconds} s${this.#whyNot === undefined ? '' : ` (the last refusal: ${this.#whyNot})`}; the same command goes on where this one ended`,
    );
  }
}

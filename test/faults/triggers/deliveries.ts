import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import type { CellAddress } from '../../../shared/cell.ts';

/** One call of a trigger's function that succeeded. */
export interface Delivery {
  readonly shard: number;
  readonly added_id: number;
  /** Tells the cell from any other that ever took this added id. */
  readonly cell: string;
  readonly replay: boolean;
  /** When the call ended, by `Date.now()`. */
  readonly at: number;
}

/** What makes a cell that very cell: its address, and when it was appended. */
export function cellName({
  row_key,
  column_name,
  ref_key,
  created_at,
}: CellAddress & { readonly created_at: string }): string {
  return `${row_key}/${column_name}/${ref_key}/${created_at}`;
}

/**
 * Appends deliveries to a file that several processes share, a line each with one call: the order of the lines is the
 * order of the deliveries, and what a process said before it was killed counts.
 */
export function openDeliveries(file: string): Disposable & { note(delivery: Delivery): void } {
  const handle = openSync(file, 'a');
  return {
    note: ({ shard, added_id, cell, replay, at }) =>
      void writeSync(handle, `${shard}\t${added_id}\t${cell}\t${replay ? 1 : 0}\t${at}\n`),
    [Symbol.dispose]: () => closeSync(handle),
  };
}

const CHUNK_BYTES = 256 * 1024;

/** Reads the file while it grows. */
export class DeliveryLog implements Disposable {
  readonly #handle: number;
  readonly #all: Delivery[] = [];
  readonly #chunk = Buffer.alloc(CHUNK_BYTES);
  #rest = '';

  constructor(file: string) {
    this.#handle = openSync(file, 'a+');
  }

  /** All so far, in order. */
  read(): readonly Delivery[] {
    for (;;) {
      const bytes = readSync(this.#handle, this.#chunk);
      if (bytes === 0) return this.#all;
      const lines = (this.#rest + this.#chunk.toString('utf8', 0, bytes)).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.#all.push(toDelivery(line));
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#handle);
  }
}

function toDelivery(line: string): Delivery {
  const [shard, addedId, cell = '', replay, at] = line.split('\t');
  return { shard: Number(shard), added_id: Number(addedId), cell, replay: replay === '1', at: Number(at) };
}

import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { rowKeyOf } from '../../../shared/address.ts';
import type { CellAddress } from '../../../shared/cell.ts';
import { toBytes, toNumber, toText } from '../../../shared/sql/cell-rows.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { fromSqlTime } from '../../../shared/time.ts';
import { onEachShard, rowsOf } from '../../support/past-the-store.ts';
import type { GroupAccess } from '../../support/store-access.ts';
import { grouped, sumOf } from '../fault-run.ts';

export interface ConsumerVariation {
  readonly failing: number;
  readonly failsOnPoison: boolean;
  /** A failure is not noticed: its message is consumed. For controls. */
  readonly forgets: boolean;
  readonly callMs: number;
  readonly pauseSeconds: number;
}

export const GOOD_CONSUMER: ConsumerVariation = {
  failing: 0,
  failsOnPoison: false,
  forgets: false,
  callMs: 0,
  pauseSeconds: 300,
};

/** The ref key alone says which cell is poison: a message carries no body. */
const MODULUS = 10;
const POISON = 7;

export function refKeyOf(number: number, poison: boolean): number {
  return number * MODULUS + (poison ? POISON : 0);
}

/** Whether the trigger's function is to fail on this cell as long as it is told to. */
export function isPoison({ ref_key }: { readonly ref_key: number }): boolean {
  return ref_key % MODULUS === POISON;
}

export interface Delivery {
  readonly shard: number;
  readonly added_id: number;
  /** Tells the cell from any other that ever took this added id. */
  readonly cell: string;
  readonly replay: boolean;
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

export class DeliveryLog implements Disposable {
  readonly #handle: number;
  readonly #all: Delivery[] = [];
  readonly #chunk = Buffer.alloc(CHUNK_BYTES);
  #rest = '';

  constructor(file: string) {
    this.#handle = openSync(file, 'a+');
  }

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

export type DeliveryVerdict = ReturnType<typeof judgeDeliveries>;

/** Whether every due cell was delivered, and, repeats apart, in the order of its log. Others are passed over. */
export function judgeDeliveries(due: readonly LoggedCell[], deliveries: readonly Delivery[]) {
  const wanted = new Set(due.map(keyOf));
  const delivered = new Set<string>();
  const reached = new Map<number, number>();
  let [repeats, outOfOrder] = [0, 0];
  for (const delivery of deliveries) {
    const key = keyOf(delivery);
    if (!wanted.has(key)) continue;
    const { shard, added_id } = delivery;
    const highest = reached.get(shard) ?? 0;
    if (delivered.has(key)) repeats += 1;
    else if (added_id < highest) outOfOrder += 1;
    delivered.add(key);
    reached.set(shard, Math.max(highest, added_id));
  }
  return { due: due.length, never: wanted.size - delivered.size, outOfOrder, repeats };
}

export function isWhole({ never, outOfOrder, due }: DeliveryVerdict): boolean {
  return due > 0 && never + outOfOrder === 0;
}

export function deliveryFigure({ due, never, outOfOrder }: DeliveryVerdict): string {
  return `${grouped(never)} never, ${grouped(outOfOrder)} out of order of ${grouped(due)}`;
}

function keyOf({ shard, cell }: Pick<LoggedCell, 'shard' | 'cell'>): string {
  return `${shard}/${cell}`;
}

export interface LoggedCell {
  readonly shard: number;
  readonly added_id: number;
  readonly ref_key: number;
  readonly cell: string;
}

/** Reads a datastore's logs from the groups' writers with plain SQL, past the store, each in its order. */
export async function loggedCells(groups: readonly GroupAccess[], datastore: string): Promise<readonly LoggedCell[]> {
  const logs = await onEachShard(groups, (client, shard) => loggedIn(client, datastore, shard), datastore);
  return logs.flat();
}

async function loggedIn(client: SqlClient, datastore: string, shard: number): Promise<readonly LoggedCell[]> {
  const sql = `SELECT added_id, row_key, column_name, ref_key, created_at FROM ${entityTable(datastore, shard)} ORDER BY added_id`;
  return (await rowsOf(client, sql)).map(([id, rowKey, column, refKey, at]) => {
    const address = { row_key: rowKeyOf(toBytes(rowKey)), column_name: toText(column), ref_key: toNumber(refKey) };
    const cell = cellName({ ...address, created_at: fromSqlTime(String(at)) });
    return { shard, added_id: toNumber(id), ref_key: address.ref_key, cell };
  });
}

/** Whether every partition is held, by so many workers, each by its fair share. @param held by each, the most first */
export function isSpread(held: readonly number[] | undefined, workers: number, partitions: number): boolean {
  if (!held) return false;
  return sumOf(held) === partitions && held.length === workers && (held[0] ?? 0) - (held.at(-1) ?? 0) <= 1;
}

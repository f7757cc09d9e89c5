import { decodeBody } from '../../shared/body/codec.ts';
import { beginOf, markedPlace } from '../../shared/body/transaction-mark.ts';
import type { CellAddress, NewCell, TransactionPlace } from '../../shared/cell.ts';
import { byItem, cellColumns } from '../../shared/sql/cell-rows.ts';
import { entityTable } from '../../shared/sql/names.ts';
import { onEachShard, rowsOf } from '../support/past-the-store.ts';
import { DATASTORE, type GroupAccess } from '../support/store-access.ts';
import { hash } from 'node:crypto';
import { stringifyJson } from '../../shared/body/json.ts';
import { shardDatabase } from '../../shared/address.ts';
import type { SqlClient } from '../../shared/sql/client.ts';
import type { BatchItem, Datastore } from '../../shared/contract/datastore.ts';
import { addressAlone } from './row-keys.ts';

export interface CellThere {
  readonly mark: number;
  readonly shard: number;
  readonly added_id: number;
  /** Milliseconds since 1970, truncated. */
  readonly createdAt: number;
}

export interface AckedCell extends CellAddress {
  readonly mark: number;
  readonly shard: number;
  /** 0 if it was only ever `buffered`. */
  readonly added_id: number;
}

export type CellsThere = ReadonlyMap<string, CellThere>;

export function addressOf({ row_key, column_name, ref_key }: CellAddress): string {
  return `${row_key}/${ref_key}/${column_name}`;
}

/** Reads every cell of the groups' writers, by its address, with plain SQL past the store. */
export async function readCellsThere(groups: readonly GroupAccess[]): Promise<CellsThere> {
  const there = new Map<string, CellThere>();
  await onEachShard(groups, async (client, shard) => {
    for (const { created_at, mark, ...cell } of await storedCells(client, DATASTORE, shard)) {
      const createdAt = Math.floor(Date.parse(created_at));
      there.set(addressOf(cell), { mark, shard, added_id: cell.added_id, createdAt });
    }
  });
  return there;
}

/** Hashes a cell, body and all, to 48 bits: among a million cells two share one with a chance under 0.2 %. */
export function markOf({ row_key, column_name, ref_key, body }: NewCell): number {
  return hash('sha1', `${row_key}/${ref_key}/${column_name}/${stringifyJson(body)}`, 'buffer').readUIntBE(0, 6);
}

export interface StoredLog {
  readonly shard: number;
  readonly ids: readonly number[];
  /** The marks of the cells at the same positions of `ids`. */
  readonly marks: readonly number[];
  /** Cells of transactions without the others next to them. */
  readonly parts: number;
  /** How often a cell's time is before that of the cell before it. */
  readonly timesBack: number;
}

/** Counts the ids missing between 1 and the highest. */
export function holesIn(logs: readonly StoredLog[]): number {
  return logs.reduce((sum, { ids }) => sum + (ids.at(-1) ?? 0) - ids.length, 0);
}

/** Reads the tables of all shards with plain SQL, past the store. Throws if two groups own the same shard. */
export async function storedLogs(groups: readonly GroupAccess[]): Promise<readonly StoredLog[]> {
  const logs = await onEachShard(groups, (client, shard) => storedLog(client, DATASTORE, shard));
  const all = logs.toSorted((one, other) => one.shard - other.shard);
  const twice = all.find(({ shard }, position) => all[position - 1]?.shard === shard);
  if (twice) throw new Error(`two groups own ${shardDatabase(DATASTORE, twice.shard)}`);
  return all;
}

export async function storedLog(client: SqlClient, datastore: string, shard: number): Promise<StoredLog> {
  const cells = await storedCells(client, datastore, shard);
  return {
    shard,
    ids: cells.map(({ added_id }) => added_id),
    marks: cells.map(({ mark }) => mark),
    parts: partsIn(cells),
    timesBack: cells.filter(({ created_at }, position) => created_at < (cells[position - 1]?.created_at ?? '')).length,
  };
}

/** Reads a shard's cells in the order of their added ids, each with its mark. */
async function storedCells(client: SqlClient, datastore: string, shard: number) {
  const sql = `SELECT ${cellColumns(0, shard)} FROM ${entityTable(datastore, shard)} ORDER BY added_id`;
  const cells = byItem(await rowsOf(client, sql), 1)[0]?.cells ?? [];
  return cells.map(({ body, ...cell }) => ({
    ...cell,
    mark: body === null ? -1 : markOf({ ...cell, body: decodeBody(body) }),
    begin: Buffer.from(beginOf(body ?? new Uint8Array()) ?? []).toString('hex'),
    place: body === null ? undefined : markedPlace(body),
  }));
}

/** Counts the cells of transactions that are not next to the one before, or after, them. */
function partsIn(cells: readonly { readonly begin: string; readonly place: TransactionPlace | undefined }[]): number {
  const isAt = (of: string, at: number, position: number): boolean =>
    cells[at]?.begin === of && cells[at].place?.position === position;
  return cells.filter(({ begin, place }, at) => {
    if (!place) return false;
    const { size, position } = place;
    return (
      (position > 0 && !isAt(begin, at - 1, position - 1)) ||
      (position < size - 1 && !isAt(begin, at + 1, position + 1))
    );
  }).length;
}

const EXAMPLES = 5;

export function compareKept(acked: readonly AckedCell[], logs: readonly StoredLog[]) {
  const addedIds = new Map<number, number>();
  let doubled = 0;
  for (const { ids, marks } of logs) {
    for (const [position, mark] of marks.entries()) {
      // Erased cells have no mark.
      if (mark < 0) continue;
      if (addedIds.has(mark)) doubled += 1;
      addedIds.set(mark, ids[position] ?? 0);
    }
  }
  let lost = 0;
  const moved: string[] = [];
  for (const { row_key, mark, shard, added_id } of acked) {
    const there = addedIds.get(mark);
    if (there === undefined) lost += 1;
    else if (added_id > 0 && there !== added_id)
      moved.push(`${row_key} of shard ${shard} was answered ${added_id}, and is at ${there}`);
  }
  return { lost, moved: moved.length, movedExamples: moved.slice(0, EXAMPLES), doubled };
}

const KEYS = 100;
const SIDE_BY_SIDE = 4;

/** Returns cells that are known to be there, at any added id. */
export function ackedCells(cells: readonly NewCell[]): readonly AckedCell[] {
  return cells.map((cell) => ({ ...addressAlone(cell), mark: markOf(cell), shard: -1, added_id: 0 }));
}

/** Reads every acknowledged cell by its address, from the writers. Returns how many differ from the written ones. */
export async function countUnreadable(
  datastore: Pick<Datastore, 'batchGet'>,
  acked: readonly AckedCell[],
): Promise<number> {
  let [missing, next] = [0, 0];
  const read = async (): Promise<void> => {
    for (let start = next; start < acked.length; start = next) {
      next = start + KEYS;
      const page = acked.slice(start, start + KEYS);
      const items = await datastore.batchGet(page.map(addressAlone));
      missing += page.filter((cell, position) => !isThat(cell, items[position])).length;
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, read));
  return missing;
}

function isThat(cell: AckedCell, item: BatchItem | undefined): boolean {
  if (!item || !('row_key' in item)) return false;
  return markOf(item) === cell.mark && (cell.added_id === 0 || cell.added_id === item.added_id);
}

import { SchemalessError } from '../errors.ts';
import { LIMITS } from '../cell.ts';
import { untilHole } from '../follow/read-log-entries.ts';
import { copyDatabase, shardDatabase } from '../address.ts';
import { toNumber } from '../sql/cell-rows.ts';
import type { SqlClient, Target } from '../sql/client.ts';
import { EMPTY_CHAIN, extendChain, fingerprintOf, goBackTo, type Chain } from './chain.ts';
import {
  CUT_CELLS,
  cutCopy,
  emptyCopy,
  insertRawCells,
  nameOfRaw,
  selectLastId,
  selectLastIdNow,
  selectRawCells,
  toRawCell,
  type RawCell,
} from './statements/raw-cells.ts';
import { selectShardState, toShardState } from './statements/shard-states.ts';
import type { Move } from './move-item.ts';

/** Cells of a page: one statement reads them, one puts them into the copy. */
const PAGE_CELLS = 500;
const PAGE_BYTES = 1024 * 1024;
/** Before anything is known of a shard's cells: those of the first page are few. */
const FIRST_CELL_BYTES = 64 * 1024;
const LEAST_CELLS = 4;

/** The two groups of a move. */
export interface MovingClients {
  readonly source: SqlClient;
  readonly target: SqlClient;
}

/**
 * Checks that the shard's log and the copy still have the cells that were read of them. A promoted replica may lack the
 * last cells, and have others with their added ids. Goes back to the cells that both still have. Throws SchemalessError
 * `internal` if the copy may be all that is left of a log: it deletes nothing then.
 */
export async function checkPlaces(move: Move, { source, target }: MovingClients): Promise<Move> {
  const [shard, copy] = [shardDatabase(move.datastore, move.shard), copyDatabase(move.datastore, move.shard)];
  const [[[head] = []], [[held] = []], row] = await Promise.all([
    source.select(selectLastId(shard), 'writer'),
    // Past every snapshot: the copy is cut by it.
    target.select(selectLastIdNow(copy), 'writer'),
    source.select(selectShardState(move), 'writer').then(toShardState),
  ]);
  const ends = { head: toNumber(head), held: toNumber(held ?? 0) };
  if (row?.isWhole !== true)
    throw new SchemalessError('internal', 'the last cells of the shard are being brought back: it is waited for');
  const isStill = async (client: SqlClient, database: string, chain: Chain): Promise<boolean> => {
    const place = chain.places.at(-1);
    return !place || (await cellAt(client, database, place.added_id)) === place.fingerprint;
  };
  if (
    ends.held >= Math.max(move.source.at, move.target.at) &&
    (await isStill(source, shard, move.source)) &&
    (await isStill(target, copy, move.target))
  ) {
    // Put there by an interrupted turn, and known to no chain.
    if (ends.held > move.copied) await takeBack(target, copy, move.copied);
    return { ...move, head: ends.head };
  }
  const common = new Set<number>();
  for (const { added_id, fingerprint } of move.source.places)
    if (
      added_id <= ends.held &&
      (await cellAt(source, shard, added_id)) === fingerprint &&
      (await cellAt(target, copy, added_id)) === fingerprint
    )
      common.add(added_id);
  const isCommon = ({ added_id }: { readonly added_id: number }): boolean => common.has(added_id);
  const [ofSource, ofTarget] = [goBackTo(move.source, isCommon), goBackTo(move.target, isCommon)];
  // A log that lost its end still begins as it did; the log of a rebuilt group begins with another cell.
  const isSameLog = async (): Promise<boolean> =>
    move.switches === 0 && (await cellAt(source, shard, 1)) === (await cellAt(target, copy, 1));
  if (ofSource.at === 0 && ends.held > 0 && !(await isSameLog()))
    throw new SchemalessError(
      'internal',
      `the shard has nothing of what its copy on the other group has, up to ${ends.held}: decide which of them to keep, and drop the copy or restore the shard`,
    );
  await takeBack(target, copy, ofSource.at);
  return {
    ...move,
    source: ofSource,
    target: ofTarget,
    copied: ofSource.at,
    head: ends.head,
    restarts: move.restarts + 1,
  };
}

/** Deletes the copy's cells after an added id. An interruption leaves a copy that ends earlier. */
async function takeBack(target: SqlClient, copy: string, after: number): Promise<void> {
  if (after === 0) {
    await target.change(emptyCopy(copy));
    return;
  }
  for (let cells = CUT_CELLS; cells === CUT_CELLS;) cells = (await target.change(cutCopy(copy, after))).affectedRows;
}

/** Empties an untrusted copy: all of it is copied again. */
export async function recopied(move: Move, { target }: MovingClients): Promise<Move> {
  await takeBack(target, copyDatabase(move.datastore, move.shard), 0);
  return { ...recompared(move), copied: 0, restarts: move.restarts + 1 };
}

/** Returns the fingerprint of the cell at an added id; undefined if there is none. */
export async function cellAt(client: SqlClient, database: string, added_id: number): Promise<string | undefined> {
  const rows = await client.select(selectRawCells(database, added_id - 1, 1, 1), 'writer');
  const cell = rows[0] && toRawCell(rows[0]);
  return cell?.added_id === added_id ? fingerprintOf(cell) : undefined;
}

/**
 * Copies the next page of a shard's log. Returns the move unchanged if there was nothing to copy. `from`: a reader if
 * there is time, the writer for the last cells.
 */
export async function copyPage(
  move: Move,
  { source, target }: MovingClients,
  from: 'writer' | 'reader',
): Promise<Move> {
  const { datastore, shard } = move;
  const cells = await readPage(source, shardDatabase(datastore, shard), move.source.at, pageCells(move), from);
  if (cells.length === 0) return move;
  for (const some of inStatements(cells, target.abilities.bounds.writtenBytes))
    await target.change(insertRawCells(copyDatabase(datastore, shard), some));
  const chain = extendChain(move.source, cells);
  return {
    ...move,
    source: chain,
    copied: Math.max(move.copied, chain.at),
    head: Math.max(move.head, chain.at),
    // A cell that is read again counts once.
    bytes: move.bytes + bytesOf(cells.filter(({ added_id }) => added_id > move.copied)),
  };
}

/**
 * Reads the copy back, as far as the shard was copied, and compares it with the cells that were read of the shard.
 * `from`: the node of the copy's group to ask: the cells that it shows are on its disk. `mayGoOn`: asked after each
 * page. Throws SchemalessError `internal` if they differ.
 */
export async function compareCopy(
  move: Move,
  { target }: MovingClients,
  from: Target,
  mayGoOn: () => boolean,
): Promise<Move> {
  const copy = copyDatabase(move.datastore, move.shard);
  let chain = move.target;
  while (chain.at < move.source.at) {
    const page = await readPage(target, copy, chain.at, pageCells(move), from);
    const cells = page.filter(({ added_id }) => added_id <= move.source.at);
    if (cells.length === 0) break;
    chain = extendChain(chain, cells);
    const known = move.source.places.find(({ added_id }) => added_id === chain.at);
    if (known && known.digest !== chain.digest) throw differing(move, cells);
    if (!mayGoOn()) break;
  }
  if (chain.at === move.source.at && chain.digest !== move.source.digest) throw differing(move);
  return { ...move, target: chain };
}

/** Restarts the comparison: both are read again, from the first cell. */
export function recompared(move: Move): Move {
  return { ...move, source: EMPTY_CHAIN, target: EMPTY_CHAIN };
}

function differing({ datastore, shard, target }: Move, cells: readonly RawCell[] = []): SchemalessError {
  const last = cells.at(-1);
  return new SchemalessError(
    'internal',
    `the copy of shard ${shard} of ${datastore} differs from it, somewhere after added id ${target.at}${last ? `, up to ${last.added_id} (${nameOfRaw(last)})` : ''}`,
  );
}

/** Returns how many cells to ask for, by their average size: a server reads each of them to find out how many fit. */
function pageCells({ bytes, copied }: Move): number {
  const each = copied > 0 ? bytes / copied : FIRST_CELL_BYTES;
  return Math.max(LEAST_CELLS, Math.min(PAGE_CELLS, Math.ceil((2 * PAGE_BYTES) / Math.max(1, each))));
}

async function readPage(
  client: SqlClient,
  database: string,
  after: number,
  limit: number,
  from: Target,
): Promise<readonly RawCell[]> {
  const bytes = Math.min(PAGE_BYTES, client.abilities.bounds.pageBytes);
  const rows = await client.select(selectRawCells(database, after, limit, bytes), from);
  return untilHole(rows.map(toRawCell), after);
}

function* inStatements(cells: readonly RawCell[], mostBytes: number): Generator<readonly RawCell[]> {
  const most = Math.min(mostBytes, LIMITS.requestBytes);
  let some: RawCell[] = [];
  let bytes = 0;
  for (const cell of cells) {
    const length = cell.body?.length ?? 0;
    if (some.length > 0 && bytes + length > most) {
      yield some;
      [some, bytes] = [[], 0];
    }
    some.push(cell);
    bytes += length;
  }
  if (some.length > 0) yield some;
}

function bytesOf(cells: readonly RawCell[]): number {
  return cells.reduce((sum, { body }) => sum + (body?.length ?? 0), 0);
}

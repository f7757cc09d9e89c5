import { SchemalessError } from '../errors.ts';
import { shardOf } from '../address.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import { deleteBuffered, failBuffered, markConflicts, noteRefusal } from '../sql/statements/change-buffered.ts';
import { keepDrained } from '../sql/statements/drained-copies.ts';
import { toWaitingRow } from '../sql/statements/select-buffered.ts';
import { MOST_ADDRESSES } from '../sql/statements/select-body-hashes.ts';
import { selectWaiting } from '../sql/statements/select-waiting.ts';
import type { StoreContext } from '../access/context.ts';
import type { AppendPace } from './append-pace.ts';
import type { ShardRows } from './ask-nodes.ts';
import type { FaultyRow } from './open-rows.ts';
import { settlePrimary } from './settle-primary.ts';
import type { Settled } from './settled.ts';
import { nameOf, type ShardTurn, type Turns } from './turns.ts';
import { slicesOf } from '../slices-of.ts';

export interface Lane {
  readonly context: StoreContext;
  readonly hintHolder: SqlClient;
  readonly keepsCopies: boolean;
  readonly primary: string;
  readonly turns: Turns;
  readonly pace: AppendPace;
  readonly report: DrainReport;
  readonly pageRows: number;
  readonly upTo: () => number;
}

/** Rows moved with one statement, each of up to a MiB. */
const KEPT_ROWS = 20;

/** Least rows of a shard in a turn: about as many as come in a second or two. */
const LEAST_ROWS = 4;

/** Cost of asking the primary's nodes for a row, relative to appending it. */
const CHECK_SHARE = 0.25;

/**
 * Takes a turn: some rows of the due shards, oldest first. Deletes hints that every node shows, appends cells that the
 * primary lacks, marks conflicts. A primary that cannot be asked, or a refused, closed or slow shard, pauses for a
 * growing time and delays no other. Returns milliseconds until something is due. Throws SqlError if the hint holder's
 * own table cannot be read or changed.
 */
export async function laneTurn(lane: Lane): Promise<number> {
  const { turns, report } = lane;
  const taken = turns.next();
  if (taken.length === 0) return turns.wait();
  const share = Math.max(Math.min(LEAST_ROWS, lane.pageRows), Math.floor(lane.pageRows / taken.length));
  const limit = Math.min(share, MOST_ADDRESSES);
  const pages = await readPages(lane, taken, limit);
  report.seen += pages.reduce((sum, { found }) => sum + found, 0);
  const asked = pages.filter(({ rows }) => rows.length > 0);
  const settled =
    asked.length === 0
      ? undefined
      : await settlePrimary(lane.context, lane, asked).catch((error: unknown) => failTurn(lane, asked, error));
  const misplaced = pages.flatMap((page) => page.misplaced);
  await write(lane, misplaced, settled);
  let checkedRows = 0;
  for (const page of pages) {
    const { turn, found, last } = page;
    const after = found < limit ? undefined : last;
    const error = settled?.failed.get(page);
    if (error) await failShard(lane, page, { error, after: after ?? 0 });
    else if (settled || page.rows.length === 0) turns.pass(turn, after);
    if (after !== undefined) checkedRows += found;
  }
  if (settled) turns.reached();
  if (settled && checkedRows > 0) await lane.pace.turn(checkedRows * CHECK_SHARE);
  return turns.wait();
}

interface Page extends ShardRows {
  readonly turn: ShardTurn;
  readonly misplaced: readonly FaultyRow[];
  readonly found: number;
  readonly last: number;
}

async function readPages(
  { context, hintHolder, upTo }: Lane,
  taken: readonly ShardTurn[],
  limit: number,
): Promise<Page[]> {
  const waiting = (await hintHolder.select(selectWaiting(taken, upTo(), limit), 'writer')).map(toWaitingRow);
  const byShard = Map.groupBy(waiting, nameOf);
  return Promise.all(
    taken.map(async (turn): Promise<Page> => {
      const { datastore, shard, name } = turn;
      const all = (byShard.get(name) ?? []).sort((one, other) => one.id - other.id);
      const known = await context.topology.datastore(datastore);
      // A datastore that is not found for a moment is no fault of its rows.
      if (!known) return { turn, datastore, shard, rows: [], misplaced: [], found: 0, last: 0 };
      const { rows = [], others = [] } = Object.groupBy(all, ({ row_key }) =>
        shardOf(row_key, known.shards) === shard ? 'rows' : 'others',
      );
      const misplaced = others.map((row): FaultyRow => ({ row, error: `row ${row.row_key} is not of shard ${shard}` }));
      return { turn, datastore, shard, rows, misplaced, found: all.length, last: all.at(-1)?.id ?? 0 };
    }),
  );
}

/** Handles a primary that could not be asked. If one shard may be faulty, asks each alone next. */
function failTurn({ context, primary, turns, report }: Lane, pages: readonly Page[], error: unknown): undefined {
  if (!(error instanceof SqlError) && !(error instanceof SchemalessError)) throw error;
  report.unreachable.add(primary);
  context.report({ kind: 'primary_failed', group: primary, error });
  const isUnavailable = error instanceof SqlError && error.failure === 'unreachable';
  const mayBeOneShard = !isUnavailable && pages.length > 1;
  for (const { turn } of pages) {
    if (mayBeOneShard) turns.askAlone(turn);
    else if (!isUnavailable) turns.fail(turn);
  }
  if (isUnavailable || mayBeOneShard) turns.unavailable();
  return undefined;
}

/** After so many failures at one row the rows behind it are tried. */
const FAILURES_PASSED = 5;

async function failShard(
  { context, hintHolder, primary, turns, report }: Lane,
  { turn, rows }: Page,
  { error, after }: { readonly error: SqlError | SchemalessError; readonly after: number },
): Promise<void> {
  report.refused.add(turn.name);
  if (turn.failures === 0) {
    context.report({ kind: 'shard_refused', group: primary, datastore: turn.datastore, shard: turn.shard, error });
    await hintHolder.change(noteRefusal(rows, error.message));
  }
  // It kept the others waiting.
  if (error instanceof SqlError && error.timedOut) turns.askAlone(turn);
  turns.fail(turn, (turn.failures + 1) % FAILURES_PASSED === 0 ? after : turn.after);
}

async function write(
  { hintHolder, keepsCopies, report }: Lane,
  misplaced: readonly FaultyRow[],
  settled: Settled | undefined,
): Promise<void> {
  const { drained = [], conflicts = [], erased = [], faulty = [], refused = [], appended = 0 } = settled ?? {};
  if (drained.length > 0) {
    // In both tables for a moment, or after a crash, rather than in neither.
    const kept = keepsCopies ? drained : [];
    for (const some of slicesOf(kept, KEPT_ROWS)) await hintHolder.change(keepDrained(some));
    await hintHolder.change(deleteBuffered(drained));
  }
  if (erased.length > 0) await hintHolder.change(deleteBuffered(erased));
  if (conflicts.length > 0) await hintHolder.change(markConflicts(conflicts));
  for (const [error, ofError] of Map.groupBy(refused, ({ error }) => error.message)) {
    const rows = ofError.map(({ row }) => row);
    await hintHolder.change(noteRefusal(rows, error));
  }
  for (const { row, error } of [...misplaced, ...faulty]) await hintHolder.change(failBuffered(row, error));
  report.drained += drained.length;
  report.conflicts += conflicts.length;
  report.appended += appended;
  report.failed += misplaced.length + faulty.length;
}

export interface DrainSettings {
  /** Younger rows are still with their writer, in seconds by the drain's clock. @default 2 */
  readonly minimumAgeSeconds?: number;
  /** Rows of a primary in a turn: up to four each of many shards, 300 of one. @default 100 */
  readonly pageRows?: number;
  /** Appends a second to each primary. @default by its backlog, see `rateFor` */
  readonly appendsPerSecond?: number;
  /** How long drained hints are kept, for a primary restored to a point in time. @default 0 */
  readonly keepCopiesSeconds?: number;
}

export interface DrainReport {
  seen: number;
  /** Rows deleted: every node shows the cell. */
  drained: number;
  appended: number;
  conflicts: number;
  failed: number;
  readonly unreachable: Set<string>;
  /** Shards, as `trips/233`, that took nothing. */
  readonly refused: Set<string>;
}

export function emptyReport(): DrainReport {
  return { seen: 0, drained: 0, appended: 0, conflicts: 0, failed: 0, unreachable: new Set(), refused: new Set() };
}

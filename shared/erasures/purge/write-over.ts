import { pauseFor } from '../../pause-for.ts';
import { SqlError, type SqlClient } from '../../sql/client.ts';
import { createFiller, dropFiller, FILLER_BYTES, fillFiller, rewriteFiller } from '../statements/filler.ts';
import { selectServerLogs, selectUndoSpaces, toServerLogs, toUndoSpaces } from '../statements/select-server-logs.ts';

/** Of a redo log that holds more the rest is left to what the store writes. */
const MOST_BYTES = 1024 ** 3;
/** Looks until undo tablespaces are cut, at most. */
const MOST_ROUNDS = 40;
/** Statements for it, of which it takes one or two of each as a rule: while a snapshot is open, each makes them grow. */
const MOST_REWRITES = 16;
/**
 * Error numbers of refusals that may pass: a disk, or a table's file, that is full (1021, 1026, 1030, 1114, 3675), no
 * memory (1037, 1038, 1041), too many transactions (1637), and a table that another run has dropped (1146). 0: the way to
 * the server says none.
 */
const MAY_PASS: ReadonlySet<number> = new Set([0, 1021, 1026, 1030, 1037, 1038, 1041, 1114, 1146, 1637, 3675]);
/** For a server to notice that a tablespace has grown. */
const ROUND_MS = 300;

/**
 * What became of the servers' own logs.
 *
 * - `done`: they have nothing any more of what was erased before.
 * - `not yet`: an undo tablespace was not cut in time, or the run had to end.
 * - `hindered`, and why: by what may pass, as a full disk.
 * - `refused`, and why, for good: the user may not make a table, or does not see undo tablespaces, or the engine is
 *   disabled; or the redo log is too large.
 */
export type WrittenOver = 'done' | 'not yet' | { readonly hindered: string } | { readonly refused: string };

export interface WritingOver {
  readonly signal: AbortSignal;
  /** What was noted last, by whoever began with it; undefined: nothing was. */
  readonly before: number | undefined;
  /** Told how many bytes of the redo log were written over, so that another can go on there. */
  readonly noted: (bytes: number) => Promise<void>;
}

/**
 * Has a group's servers write over what lies in files of their own besides tables: undo logs, doublewrite files, redo
 * logs. Bodies that were erased are there until others are written to the same place, which may be never. So a table is
 * made, and its rows are written anew until the undo tablespaces were cut, and then as often as fills the redo log, by
 * which all its pages go to disk by way of the doublewrite files. Replicas do the same, as they do with any statement.
 *
 * `ALTER UNDO TABLESPACE … SET INACTIVE` was rejected: replicas, which are read-only, refuse it.
 *
 * The table is left where the signal ends it: whoever has the purge by then may be at it, and drops it in the end.
 *
 * @throws SqlError where the writer, or a node, does not answer, or is not to be written to
 */
export async function writeOver(client: SqlClient, { signal, before, noted }: WritingOver): Promise<WrittenOver> {
  try {
    const logs = toServerLogs(await client.select(selectServerLogs(), 'writer'));
    await client.change(createFiller());
    await client.change(fillFiller());
    const isCut = before !== undefined || !logs.hasUndoSpaces || (await untilCut(client, signal));
    const redoBytes = isCut ? Math.min(MOST_BYTES, logs.redoBytes) : 0;
    for (let bytes = before ?? 0; bytes < redoBytes && !signal.aborted;) {
      await client.change(rewriteFiller());
      bytes += FILLER_BYTES;
      await noted(bytes);
    }
    if (signal.aborted) return 'not yet';
    await client.change(dropFiller());
    if (!isCut) return 'not yet';
    if (logs.redoBytes <= MOST_BYTES) return 'done';
    return { refused: `of a redo log of ${logs.redoBytes} bytes ${MOST_BYTES} were written over` };
  } catch (error) {
    if (!(error instanceof SqlError) || error.failure !== 'rejected') throw error;
    if (!signal.aborted) await client.change(dropFiller()).catch(() => undefined);
    return MAY_PASS.has(error.errno) ? { hindered: error.message } : { refused: error.message };
  }
}

/** Whether all undo tablespaces that nodes have were cut since. */
async function untilCut(client: SqlClient, signal: AbortSignal): Promise<boolean> {
  const spaces = (): Promise<readonly ReadonlyMap<string, number>[]> =>
    Promise.all(
      Array.from({ length: client.nodes }, async (_, node) =>
        toUndoSpaces(await client.select(selectUndoSpaces(), { node })),
      ),
    );
  const before = await spaces();
  const isCut = (now: Awaited<ReturnType<typeof spaces>>): boolean =>
    before.every((ofNode, node) => [...ofNode].every(([name, space]) => now[node]?.get(name) !== space));
  for (let round = 0; round < MOST_ROUNDS && !signal.aborted; round += 1) {
    if (round < MOST_REWRITES) await client.change(rewriteFiller());
    await pauseFor(ROUND_MS, signal);
    if (isCut(await spaces())) return true;
  }
  return false;
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreContext } from '../access/context.ts';
import { nodesOf } from '../access/groups.ts';
import { copyDatabase, shardDatabase } from '../address.ts';
import { SchemalessError } from '../errors.ts';
import { toNumber } from '../sql/cell-rows.ts';
import { SqlError, type SqlClient, type Target } from '../sql/client.ts';
import { cellAt, compareCopy, type MovingClients } from './copy-log.ts';
import type { Move } from './move-item.ts';
import { selectLastIdNow } from './statements/raw-cells.ts';
import { selectShardState, toShardState, type RawShardRow } from './statements/shard-states.ts';

/** Checks of a closed shard and its copy before the copy may become the shard. */

const POLL_MS = 4;
/** How long a reader of the old group may lag. */
const LAG_MS = 100;

/**
 * Waits until a node of the new group shows all of the copy, and compares it. Throws SchemalessError `internal` if it
 * differs, or does not show it in time.
 */
export async function shows(given: Move, clients: MovingClients, node: Target, isLate: () => boolean): Promise<void> {
  let move = given;
  for (;;) {
    move = await compareCopy(move, clients, node, () => !isLate());
    if (move.target.at === move.source.at) return;
    if (isLate()) throw new SchemalessError('internal', 'a node of the new group lags behind');
    await sleep(POLL_MS);
  }
}

/** Checks that the same server answered throughout: a replica promoted since might lack the last cells. */
export async function sameWriter(move: Move, source: SqlClient, before: RawShardRow): Promise<void> {
  const now = toShardState(await source.select(selectShardState(move), 'writer'));
  if (now?.state === 'moving' && now.closedBy === move.attempt && now.epoch === before.epoch && now.isWhole) return;
  throw new SchemalessError('internal', 'the writer of the shard changed while it was closed');
}

/** Checks that no node of the old group could take appends as its writer. A silent node cannot. */
export async function allClosed(context: StoreContext, move: Move, source: SqlClient, lagMs = LAG_MS): Promise<void> {
  const nodes = await nodesOf(context.topology, move.from, source);
  const states = await Promise.all(nodes.map((node) => closedOn(move, source, node, lagMs)));
  if (states.includes(false)) throw new SchemalessError('internal', 'a reader of the old group lags behind');
}

async function closedOn(move: Move, source: SqlClient, node: Target, lagMs: number): Promise<boolean> {
  for (const until = performance.now() + lagMs; ;) {
    try {
      if (toShardState(await source.select(selectShardState(move), node))?.state === 'moving') return true;
    } catch (error) {
      if (error instanceof SqlError) return true;
      throw error;
    }
    if (performance.now() > until) return false;
    await sleep(POLL_MS);
  }
}

/** Checks that the last copied cell is still the shard's, and that the copy has none beyond it. */
export async function isStillWhole(move: Move, { source, target }: MovingClients): Promise<void> {
  const { places, at } = move.source;
  const [found, [[last] = []]] = await Promise.all([
    cellAt(source, shardDatabase(move.datastore, move.shard), at),
    target.select(selectLastIdNow(copyDatabase(move.datastore, move.shard)), 'writer'),
  ]);
  if (found !== places.at(-1)?.fingerprint || toNumber(last ?? 0) !== at)
    throw new SchemalessError('internal', 'the shard lost cells that were copied: the move checks it again');
}

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { nodesOf } from '../access/groups.ts';
import { SchemalessError } from '../errors.ts';
import { copyDatabase, shardDatabase } from '../address.ts';
import { toNumber } from '../sql/cell-rows.ts';
import { SqlError, type Target } from '../sql/client.ts';
import { readDatastore } from '../topology/dynamo-topology.ts';
import { beginAttempt, switchHome, type SeenShard } from '../topology/moving-shards.ts';
import { copyPage, type MovingClients } from './copy-log.ts';
import type { Move, MoveWork } from './move-item.ts';
import { isBound, dropFences, endAttempts, movedByAnother, putRight, renameAll, tablesOf } from './shard-tables.ts';
import { allClosed, isStillWhole, sameWriter, shows } from './switch-checks.ts';
import {
  createDatabase,
  createFence,
  dropFence,
  renameAndBack,
  renameFenced,
  renameTables,
} from './statements/copy-tables.ts';
import { selectLastIdNow } from './statements/raw-cells.ts';
import {
  arriveShard,
  closeShard,
  leaveShard,
  openShard,
  selectShardState,
  toShardState,
  type RawShardRow,
} from './statements/shard-states.ts';

type Switching = Pick<MoveWork, 'context' | 'topologyTable' | 'write' | 'tellMoved' | 'settings'>;

/**
 * How long copying the rest may take before the shard is opened where it was: writers wait for 300 ms, and are answered
 * `buffered` after that. Half of it is left for the names of the tables, which MySQL writes to disk twice, and for the
 * topology.
 */
const CLOSED_MS = 150;
const POLL_MS = 4;

export interface Switched {
  readonly isDone: boolean;
  readonly move: Move;
  /** Why it is not done. */
  readonly why?: string;
  readonly closedMs: number;
}

/**
 * Makes a copy that has all but the last cells the shard. Closes the shard, copies and compares its last cells, and
 * waits until each possible writer of the copy shows them. Then one write to the topology decides.
 *
 * The order of the steps makes an interruption between any two of them harmless:
 *
 * 1. The topology has the attempt: from now on no earlier attempt decides anything, however late it continues.
 * 2. The old group takes no appends (`closeShard`), as all its nodes that answer know. No transaction has its tables.
 * 3. The copy is the shard, byte for byte, on each node that counts.
 * 4. Its tables take their names on the new group.
 * 5. **The topology says so**: reads go to the new group from now on. Before this the switch can be undone, after it
 *    only finished.
 * 6. The old group's tables lose their names: a client with an older topology finds no table, and refreshes it.
 * 7. The new group takes appends. Not earlier: until step 6 a client might still read the old one as the shard's.
 *
 * @param given with the epoch that the shard is to have
 */
export async function switchShard(switching: Switching, given: Move, clients: MovingClients): Promise<Switched> {
  const { source, target } = clients;
  const [shard, copy] = [shardDatabase(given.datastore, given.shard), copyDatabase(given.datastore, given.shard)];
  const before = toShardState(await source.select(selectShardState(given), 'writer'));
  if (!before || before.epoch >= given.epoch) return notDone(given, 'its epoch was raised', 0);
  if ((await tablesOf(target, shard)).length > 0)
    return notDone(given, `${given.to} has unknown tables of the name ${shard}`, 0);
  const attempt = randomUUID();
  // Slow steps that close nothing come first, and so do those that fail if a node cannot be asked.
  const nodes = await nodesOf(switching.context.topology, given.to, target);
  const tables: Tables = { ofShard: await tablesOf(source, shard), ofCopy: await tablesOf(target, copy) };
  await Promise.all([
    target.change(createDatabase(shard)),
    source.change(createDatabase(copy)),
    source.change(createFence(shard, attempt)),
    target.change(arriveShard(given, given.epoch, before)),
    ...nodes.map((node) => target.select(selectShardState(given), node)),
  ]);
  // An old row may have a higher epoch: the next attempt takes one above it.
  const arrived = toShardState(await target.select(selectShardState(given), 'writer'));
  if (arrived?.epoch !== given.epoch)
    return notDone(
      { ...given, epoch: arrived?.epoch ?? given.epoch },
      `its epoch is ${arrived?.epoch} on ${given.to}`,
      0,
    );
  // A table that a transaction holds could not be renamed: the shard would stay closed until it ends.
  try {
    await source.change(renameAndBack(shard, copy, tables.ofShard));
  } catch (error) {
    if (!(error instanceof SqlError) || error.failure === 'unreachable') throw error;
    return notDone(given, `its tables are held by a transaction: ${error.message}`, 0);
  }
  const move: Move = { ...given, attempt, closed_at: Date.now() };
  await switching.write(move);
  const seen = await beginAttempt(switching.topologyTable, move, move.attempt);
  if (!seen) return notDone(given, 'it is elsewhere', 0);
  // After the attempt began: a fence that is created later belongs to an attempt that ends this one.
  await Promise.all([dropFences(target, shard), dropFences(source, copy)]);
  const since = performance.now();
  const closedMs = (): number => performance.now() - since;
  try {
    const { affectedRows } = await source.change(closeShard(move, before, attempt));
    if (affectedRows === 0) return notDone(given, 'it is closed, or its last cells are being brought back', 0);
    const whole = await copyRest(switching, { move, clients, before, since, nodes });
    if (whole) return await finishSwitch(switching, whole, clients, { tables, seen, since });
  } catch (error) {
    if (!(error instanceof SchemalessError) && !(error instanceof SqlError)) throw error;
    const resumed = await resumeSwitch(switching, move, clients);
    return resumed.isDone ? resumed : { ...resumed, why: error.message, closedMs: closedMs() };
  }
  await takeBack(switching, move, clients);
  return notDone(given, 'copying the rest took too long', closedMs());
}

/**
 * Continues an interrupted switch: finishes it if the topology has it, undoes it otherwise. Throws what DynamoDB
 * throws: nothing is known then.
 */
export async function resumeSwitch(switching: Switching, move: Move, clients: MovingClients): Promise<Switched> {
  const closedMs = (): number => Date.now() - move.closed_at;
  if (await takeBack(switching, move, clients))
    return notDone(move, 'it was cut off before it was decided', closedMs());
  const home = (await readDatastore(switching.topologyTable, move.datastore))?.homes[move.shard];
  if (home?.group !== move.to || home.copy?.move !== move.id || home.epoch < move.epoch) throw movedByAnother(move);
  const settled = await settle(switching, move, clients);
  return { isDone: true, move: settled, closedMs: closedMs() };
}

/**
 * Undoes a switch that is not decided: from here on it never will be. Returns false if it is.
 *
 * Opens the shard before it asks the other group, which may be unavailable. Its tables get their names back then, or
 * with the next turn.
 */
async function takeBack({ topologyTable }: Switching, move: Move, { source, target }: MovingClients): Promise<boolean> {
  if (!(await endAttempts({ topologyTable }, move, source))) return false;
  await putRight({ topologyTable, move, client: target });
  return true;
}

interface CopiedRest {
  readonly move: Move;
  readonly clients: MovingClients;
  readonly before: RawShardRow;
  readonly since: number;
  /** Those of the new group that have to show all of it. */
  readonly nodes: readonly Target[];
}

/**
 * Returns the move with all of the shard copied and compared; undefined if that takes too long. Throws SchemalessError
 * `internal` if the copy cannot become the shard.
 */
async function copyRest(
  switching: Switching,
  { move: given, clients, before, since, nodes }: CopiedRest,
): Promise<Move | undefined> {
  const { closedMs = CLOSED_MS } = switching.settings;
  const { source } = clients;
  const isLate = (): boolean => performance.now() - since > closedMs;
  // Past every snapshot: the last commit may be hidden from one for a moment (MariaDB).
  const [[head] = []] = await source.select(selectLastIdNow(shardDatabase(given.datastore, given.shard)), 'writer');
  let move = given;
  while (move.source.at < toNumber(head ?? 0)) {
    const { at } = move.source;
    move = await copyPage(move, clients, 'writer');
    if (isLate()) return undefined;
    if (move.source.at === at) await sleep(POLL_MS);
  }
  await Promise.all([
    sameWriter(move, source, before),
    allClosed(switching.context, move, source, switching.settings.closedMs),
    isStillWhole(move, clients),
    ...nodes.map((node) => shows(move, clients, node, isLate)),
  ]);
  return isLate() ? undefined : { ...move, target: move.source };
}

/** As before the shard was closed: the lease of the migration prevents that tables are made or dropped. */
interface Tables {
  readonly ofShard: readonly string[];
  readonly ofCopy: readonly string[];
}

async function finishSwitch(
  switching: Switching,
  move: Move,
  clients: MovingClients,
  { tables, seen, since }: { readonly tables: Tables; readonly seen: SeenShard; readonly since: number },
): Promise<Switched> {
  const { source, target } = clients;
  const [shard, copy] = [shardDatabase(move.datastore, move.shard), copyDatabase(move.datastore, move.shard)];
  // A last check before the decision: a transaction may have begun since.
  await source.change(renameAndBack(shard, copy, tables.ofShard));
  const [rows] = await Promise.all([
    source.select(selectShardState(move), 'writer'),
    target.change(renameTables(copy, shard, tables.ofCopy)),
  ]);
  const hasErasures = toShardState(rows)?.hasErasures !== false;
  const isSwitched = await switchHome(switching.topologyTable, move, seen);
  // Another attempt won, or the write succeeded and its answer was lost.
  if (!isSwitched) return resumeSwitch(switching, move, clients);
  switching.tellMoved();
  await source.change(renameFenced(shard, copy, tables.ofShard, move.attempt));
  await target.change(openShard(move, move.epoch, await isBound(switching.context, move.to), hasErasures));
  const closedMs = performance.now() - since;
  await source.change(leaveShard(move, move.epoch));
  await source.change(dropFence(shard, move.attempt));
  return { isDone: true, move: switched(move), closedMs };
}

/** From here on it is decided. */
async function settle(switching: Switching, move: Move, { source, target }: MovingClients): Promise<Move> {
  const [shard, copy] = [shardDatabase(move.datastore, move.shard), copyDatabase(move.datastore, move.shard)];
  await renameAll(target, copy, shard);
  const since = { ...move, from: move.to, to: move.from };
  await putRight({ topologyTable: switching.topologyTable, move: since, client: source });
  // The old group may be unavailable to tell of erasures: checking for them harms nothing.
  await target.change(openShard(move, move.epoch, await isBound(switching.context, move.to), true));
  await source.change(leaveShard(move, move.epoch));
  return switched(move);
}

/** Exchanges the shard and its copy: the new copy has all cells of the shard. */
function switched(move: Move): Move {
  return {
    ...move,
    from: move.to,
    to: move.from,
    target: move.source,
    indexed: [],
    indexed_at: 0,
    owed: move.indexed,
    cursor: null,
    failures: 0,
    retry_at: 0,
    switches: move.switches + 1,
  };
}

function notDone(move: Move, why: string, closedMs: number): Switched {
  return { isDone: false, move, why, closedMs };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreContext } from '../access/context.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { SchemalessError } from '../errors.ts';
import { copyDatabase, shardDatabase } from '../shard.ts';
import { toNumber } from '../sql/cell-rows.ts';
import type { SqlClient, Target } from '../sql/client.ts';
import { readDatastore } from '../topology/dynamo-topology.ts';
import { switchHome } from '../topology/moving-shards.ts';
import { compareCopy, copyPage, type MovingClients } from './copy-log.ts';
import type { Move } from './move-item.ts';
import { createDatabase, renameTables, selectTables, toTableNames } from './statements/copy-tables.ts';
import { selectLastIdNow, selectRawCells, toRawCell } from './statements/raw-cells.ts';
import {
  arriveShard,
  closeShard,
  leaveShard,
  openShard,
  reopenShard,
  selectShardState,
  toShardState,
  type RawShardRow,
} from './statements/shard-states.ts';
import { fingerprintOf } from './chain.ts';

/** What a switch works with. */
export interface Switching {
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  /** @default true: for the controls of fault runs, which show what each of them is for */
  readonly protections?: SwitchProtections;
}

/** What keeps a switch from losing anything. */
export interface SwitchProtections {
  readonly closes: boolean;
  readonly compares: boolean;
}

/**
 * How long a shard may be closed before it is opened where it was: writers wait as long for it, and are answered
 * `buffered` after that.
 */
const CLOSED_MS = 250;
const LOOK_MS = 4;

/** What a switch came to. */
export type Switched =
  | { readonly isDone: true; readonly move: Move; readonly closedMs: number }
  | { readonly isDone: false; readonly move: Move; readonly why: string };

/**
 * Makes a copy that has all but the last cells the shard. The shard is closed where it is, what it took last is copied,
 * compared and shown by every node that might become the copy's writer; then one write to the topology decides.
 *
 * The order of the steps is what holds, so that whoever is killed between two of them harms nothing:
 *
 * 1. The old group takes no appends (`closeShard`).
 * 2. The copy is the shard, byte for byte, on each node that counts.
 * 3. Its tables take their names on the new group.
 * 4. **The topology says so**: reads go to the new group from now on. Before this the switch can be taken back, after it
 *    only be finished.
 * 5. The old group's tables lose their names: who goes by an older topology finds no table, and looks again.
 * 6. The new group takes appends. Not before: until 5 somebody might still read the old one for the shard's.
 *
 * @param move with the epoch that the shard is to have, and `switching` as its step, which is written already
 */
export async function switchShard(switching: Switching, move: Move, clients: MovingClients): Promise<Switched> {
  const { source, target } = clients;
  const [shard, copy] = [shardDatabase(move.datastore, move.shard), copyDatabase(move.datastore, move.shard)];
  const before = toShardState(await source.select(selectShardState(move), 'writer'));
  if (!before || before.epoch >= move.epoch) return notDone(move, 'its epoch was raised');
  // What takes long, and closes nothing, comes first.
  await Promise.all([
    target.change(createDatabase(shard)),
    source.change(createDatabase(copy)),
    target.change(arriveShard(move, move.epoch, before)),
  ]);
  const closes = switching.protections?.closes !== false;
  const since = performance.now();
  if (closes) {
    const { affectedRows } = await source.change(closeShard(move, before.epoch));
    if (affectedRows === 0) return notDone(move, 'it is closed, or its last cells are being brought back');
  }
  const whole = await copyRest(switching, { move, clients, before, since }).catch((error: unknown) => {
    if (error instanceof SchemalessError && error.code === 'internal') return error;
    throw error;
  });
  if (!whole || whole instanceof Error) {
    await reopen(move, source);
    return notDone(move, whole instanceof Error ? whole.message : 'copying the rest took too long');
  }
  return finishSwitch(switching, whole, clients, since);
}

/**
 * Goes on with a switch that was cut off: finishes it where the topology has it, takes it back otherwise.
 *
 * @throws what DynamoDB throws: nothing is known then
 */
export async function resumeSwitch(switching: Switching, move: Move, clients: MovingClients): Promise<Switched> {
  const home = (await readDatastore(switching.topologyTable, move.datastore))?.homes[move.shard];
  if (home?.group === move.to && home.epoch >= move.epoch) return settle(switching, move, clients, performance.now());
  const [shard, copy] = [shardDatabase(move.datastore, move.shard), copyDatabase(move.datastore, move.shard)];
  await rename(clients.target, shard, copy);
  await reopen(move, clients.source);
  return notDone(move, 'it was cut off before it was decided');
}

interface CopiedRest {
  readonly move: Move;
  readonly clients: MovingClients;
  readonly before: RawShardRow;
  readonly since: number;
}

/** The move with all of the shard copied and compared; undefined where that takes too long. */
async function copyRest(
  { context, protections }: Switching,
  { move: given, clients, before, since }: CopiedRest,
): Promise<Move | undefined> {
  const { source, target } = clients;
  const isLate = (): boolean => performance.now() - since > CLOSED_MS;
  // Past every snapshot: the last commit may be hidden from one for a moment (MariaDB).
  const [[head] = []] = await source.select(selectLastIdNow(shardDatabase(given.datastore, given.shard)), 'writer');
  let move = given;
  while (move.source.at < toNumber(head ?? 0)) {
    const { at } = move.source;
    move = await copyPage(move, clients, 'writer');
    if (isLate()) return undefined;
    if (move.source.at === at) await sleep(LOOK_MS);
  }
  if (protections?.closes !== false) {
    // The same server has answered all along: a replica that was promoted meanwhile might lack what it took last.
    const now = toShardState(await source.select(selectShardState(move), 'writer'));
    if (now?.state !== 'moving' || now.epoch !== before.epoch || !now.isWhole)
      throw new SchemalessError('internal', 'the writer of the shard changed while it was closed');
  }
  if (protections?.compares === false) return move;
  if (!(await isStillThere(source, move)))
    throw new SchemalessError('internal', 'the shard lost cells that were copied: it is looked at anew');
  for (const node of await nodesOf(context, move.to, target)) {
    let compared = move;
    while (compared.target.at < move.source.at) {
      compared = await compareCopy(compared, clients, node);
      if (compared.target.at === move.source.at) break;
      if (isLate()) return undefined;
      await sleep(LOOK_MS);
    }
  }
  const compared = await compareCopy(move, clients, 'writer');
  return compared.target.at === move.source.at ? compared : undefined;
}

/** The nodes that have to show the last cells: each that may become the writer. Where storage is shared, one is all. */
async function nodesOf(context: StoreContext, group: string, client: SqlClient): Promise<readonly Target[]> {
  const address = (await context.topology.groups()).find(({ name }) => name === group);
  if (address?.sharedStorage === true || !client.abilities.survivesDiskLoss) return ['writer'];
  return Array.from({ length: client.nodes }, (_, node) => ({ node }));
}

/** Whether the cell that was copied last is still the shard's. */
async function isStillThere(source: SqlClient, { datastore, shard, source: { places } }: Move): Promise<boolean> {
  const place = places.at(-1);
  if (!place) return true;
  const rows = await source.select(selectRawCells(shardDatabase(datastore, shard), place.added_id - 1, 1, 1), 'writer');
  return rows[0] !== undefined && fingerprintOf(toRawCell(rows[0])) === place.fingerprint;
}

async function finishSwitch(
  switching: Switching,
  move: Move,
  clients: MovingClients,
  since: number,
): Promise<Switched> {
  const [shard, copy] = [shardDatabase(move.datastore, move.shard), copyDatabase(move.datastore, move.shard)];
  await rename(clients.target, copy, shard);
  if (!(await switchHome(switching.topologyTable, move))) {
    // It was another's, or it was written, and the answer lost.
    const ended = await resumeSwitch(switching, move, clients);
    return ended.isDone ? { ...ended, closedMs: performance.now() - since } : ended;
  }
  return settle(switching, move, clients, since);
}

/** From here on it is decided. */
async function settle(
  { context }: Switching,
  move: Move,
  { source, target }: MovingClients,
  since: number,
): Promise<Switched> {
  const [shard, copy] = [shardDatabase(move.datastore, move.shard), copyDatabase(move.datastore, move.shard)];
  await rename(target, copy, shard);
  const before = toShardState(await source.select(selectShardState(move), 'writer'));
  await rename(source, shard, copy);
  const address = (await context.topology.groups()).find(({ name }) => name === move.to);
  const isBound = context.bufferCopies > 0 && address?.sharedStorage !== true;
  await target.change(openShard(move, move.epoch, isBound));
  const closedMs = performance.now() - since;
  if (before) await source.change(leaveShard(move, move.epoch));
  return {
    isDone: true,
    closedMs,
    move: {
      ...move,
      from: move.to,
      to: move.from,
      // What was the shard has what the shard has.
      target: move.source,
      indexed: [],
      indexed_at: 0,
      owed: move.indexed,
      cursor: null,
      failures: 0,
      retry_at: 0,
      switches: move.switches + 1,
    },
  };
}

/** Does nothing where they have it already: the tables lie together, or not at all. */
async function rename(client: SqlClient, from: string, to: string): Promise<void> {
  const tables = toTableNames(await client.select(selectTables(from), 'writer'));
  if (tables.length > 0) await client.change(renameTables(from, to, tables));
}

async function reopen(move: Move, source: SqlClient): Promise<void> {
  await source.change(reopenShard(move, move.epoch));
}

function notDone(move: Move, why: string): Switched {
  return { isDone: false, move, why };
}

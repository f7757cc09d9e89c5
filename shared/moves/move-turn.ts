import { requireDatastore } from '../access/groups.ts';
import { underLease } from '../dynamo/under-lease.ts';
import { SchemalessError } from '../errors.ts';
import { indexTableName, maintainedIndexes, type PhysicalIndex } from '../index/index-table.ts';
import { noteSwitched } from '../index/repair/verified-epochs.ts';
import { copyDatabase } from '../address.ts';
import { SqlError } from '../sql/client.ts';
import { dynamoTopology, readDatastore } from '../topology/dynamo-topology.ts';
import { announceCopy, endMoving } from '../topology/moving-shards.ts';
import { checkPlaces, compareCopy, recompared, recopied, copyPage, type MovingClients } from './copy-log.ts';
import { hasAllIndexes, maintainIndexes, withoutOldDebts } from './maintain-indexes.ts';
import { isSwitchWanted, type Move, type MoveRequest, type MoveWork } from './move-item.ts';
import { dropForgotten, endAttempts, makeCopy, repairNames, putRight, tablesOf } from './shard-tables.ts';
import { dropCopy } from './statements/copy-tables.ts';
import { forgetShard } from './statements/shard-states.ts';
import { resumeSwitch, switchShard, type Switched } from './switch-shard.ts';

/** A log that lacks no more is followed; a switch copies as much while the shard is closed. */
const NEAR_CELLS = 200;
/** Between polls of a log that is followed, and where nothing comes and nothing is wanted. */
const [FOLLOW_MS, IDLE_MS] = [200, 2000];
const RENEW_MS = 2000;
/** Before a failed switch is tried again: writers waited for it. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;

/** Works on a move for a second or two; returns ms until the next turn, undefined at its end. May be repeated. */
export async function moveTurn(work: MoveWork, move: Move, desired: MoveRequest | null): Promise<number | undefined> {
  const clients: MovingClients = {
    source: await work.context.groups.client(move.from),
    target: await work.context.groups.client(move.to),
  };
  const { pollMs = FOLLOW_MS } = work.settings;
  switch (move.step) {
    case 'waiting':
      if (desired === 'cancel' || desired === 'complete') return written(work, { ...move, step: 'dropping' });
      return work.mayCopy(move) ? prepare(work, move, clients) : pollMs;
    case 'copying':
    case 'following':
      if (isDropWanted(move, desired)) return written(work, { ...move, step: 'dropping' });
      // It was switched before it could be cancelled.
      if (desired === 'cancel') return written(work, move, desired);
      if (desired === 'verify') return written(work, { ...recompared(move), step: 'copying' }, desired);
      return copyTurn(work, move, desired, clients);
    case 'switching':
      return ended(work, await resumeSwitch(work, move, clients));
    case 'dropping':
      return drop(work, move, clients);
    default:
      return undefined;
  }
}

/**
 * Waits until index entries that only the old group got are copied. A faulty move is kept: its copy may be all there
 * is.
 */
function isDropWanted(move: Move, desired: MoveRequest | null): boolean {
  if (desired === 'cancel') return move.switches === 0;
  return move.owed.length === 0 && (desired === 'complete' || (isOverdue(move) && move.last_error === null));
}

async function written(work: MoveWork, move: Move, desired?: MoveRequest): Promise<number> {
  await work.write(move, desired);
  return 0;
}

/** The databases and tables of the copy; then writers are told to keep its entries. */
async function prepare(work: MoveWork, move: Move, { target }: MovingClients): Promise<number> {
  await makeCopy(target, move, await maintainedIndexes(work.context.topology, move.datastore));
  await announceCopy(work.topologyTable, move);
  work.tellMoved();
  return written(work, { ...move, step: 'copying', announced_at: Date.now() });
}

async function copyTurn(
  work: MoveWork,
  given: Move,
  desired: MoveRequest | null,
  clients: MovingClients,
): Promise<number | undefined> {
  const { turnMs = 1000, share = 0.5 } = work.settings;
  const indexes = await maintainedIndexes(work.context.topology, given.datastore);
  if (work.isFirst && !(await findItsFeet(work, given, clients, indexes))) return goOn(work, given, clients);
  const [since, before] = [performance.now(), given.bytes];
  const mayGoOn = (): boolean => performance.now() - since < turnMs && !work.signal.aborted;
  let move = await checkPlaces(await withoutOldDebts(work.stateTable, given), clients);
  const isFar = move.head - move.source.at > NEAR_CELLS;
  move = await copyPages(move, clients, mayGoOn);
  move = await compareOrGoBack(move, clients, mayGoOn);
  const seconds = (performance.now() - since) / 1000;
  const rate = Math.round(((move.bytes - before) * share) / seconds);
  const isNear = move.head - move.source.at <= NEAR_CELLS;
  const isWanted = isSwitchWanted(move, desired);
  move = {
    ...move,
    bytes_per_second: isFar ? rate : move.bytes_per_second,
    last_error: isWanted || move.restarts > given.restarts ? move.last_error : null,
  };
  if (isNear) {
    const isIndexed = indexes.every(({ name, hash }) => move.indexed.includes(indexTableName(name, hash)));
    if (work.isFirst || !isIndexed) await makeCopy(clients.target, move, indexes);
    move = await maintainIndexes(move, { clients, indexes, isWanted, signal: work.signal, ...work.settings });
  }
  const isCompared = move.target.at === move.source.at;
  if (isNear && isCompared && hasAllIndexes(move, indexes)) {
    move = { ...move, step: 'following' };
    if (isWanted && Date.now() >= move.retry_at) return switchNow(work, move, desired, clients);
  }
  const isIdle = JSON.stringify(move) === JSON.stringify(given);
  if (!isIdle) await work.write(move);
  if (!isNear) return (performance.now() - since) * (1 / share - 1);
  const { pollMs } = work.settings;
  return isIdle && !isWanted ? (pollMs ?? IDLE_MS) : (pollMs ?? FOLLOW_MS);
}

/** Finishes or undoes what an interrupted turn left. Returns false if the shard is on another group. */
async function findItsFeet(
  work: MoveWork,
  move: Move,
  clients: MovingClients,
  indexes: readonly PhysicalIndex[],
): Promise<boolean> {
  if (!(await endAttempts(work, move, clients.source))) return false;
  const home = (await readDatastore(work.topologyTable, move.datastore))?.homes[move.shard];
  if (home?.group !== move.from) return false;
  await repairNames(work, move, home, clients);
  await makeCopy(clients.target, move, indexes);
  return true;
}

/** Finishes a switch that was decided but not recorded in the move. */
async function goOn(work: MoveWork, move: Move, clients: MovingClients): Promise<number> {
  const home = (await readDatastore(work.topologyTable, move.datastore))?.homes[move.shard];
  if (home?.group !== move.to || home.copy?.move !== move.id)
    throw new SchemalessError('internal', `the topology has the shard on ${home?.group ?? 'no group'}`);
  return ended(work, await resumeSwitch(work, { ...move, epoch: home.epoch }, clients));
}

/** From a reader while there is much to copy, from the writer what it took last, or where no reader answers. */
async function copyPages(given: Move, clients: MovingClients, mayGoOn: () => boolean): Promise<Move> {
  const { abilities, nodes } = clients.source;
  let move = given;
  let isOfReader = abilities.readsFromReaders && nodes > 1;
  for (let at = -1; at < move.source.at && mayGoOn();) {
    at = move.source.at;
    const from = isOfReader && move.head - at > NEAR_CELLS ? 'reader' : 'writer';
    try {
      move = await copyPage(move, clients, from);
    } catch (error) {
      if (from === 'writer' || !(error instanceof SqlError)) throw error;
      [isOfReader, at] = [false, -1];
    }
    // A reader that lags has not got it yet.
    if (from === 'reader' && move.source.at === at) [isOfReader, at] = [false, -1];
  }
  return move;
}

/**
 * Compares with a reader, then with the writer if the reader differs or is silent. A copy that differs is begun again.
 */
async function compareOrGoBack(move: Move, clients: MovingClients, mayGoOn: () => boolean): Promise<Move> {
  const { abilities, nodes } = clients.target;
  if (abilities.readsFromReaders && nodes > 1) {
    try {
      const compared = await compareCopy(move, clients, 'reader', mayGoOn);
      if (compared.target.at > move.target.at || compared.target.at === move.source.at) return compared;
    } catch (error) {
      if (!isDifferent(error) && !(error instanceof SqlError)) throw error;
    }
  }
  try {
    return await compareCopy(move, clients, 'writer', mayGoOn);
  } catch (error) {
    if (!isDifferent(error)) throw error;
    return { ...(await recopied(move, clients)), last_error: error.message };
  }
}

function isDifferent(error: unknown): error is SchemalessError {
  return error instanceof SchemalessError && error.code === 'internal';
}

function isOverdue({ switches, switched_at, complete_after_seconds }: Move): boolean {
  return (
    switches > 0 &&
    complete_after_seconds !== null &&
    switched_at !== null &&
    Date.now() - Date.parse(switched_at) >= complete_after_seconds * 1000
  );
}

/** Switches under the migration's lease, so that no index gets or loses a table. */
async function switchNow(
  work: MoveWork,
  move: Move,
  desired: MoveRequest | null,
  clients: MovingClients,
): Promise<number | undefined> {
  const { homes } = await requireDatastore(work.context.topology, move.datastore);
  const before = homes[move.shard]?.epoch ?? 0;
  const epoch = Math.max(before, move.epoch) + 1;
  const switching: Move = { ...move, step: 'switching', epoch };
  const held = await underLease(
    { leases: work.leases, name: 'migrate', renewMs: RENEW_MS, isExclusive: true, signal: work.signal },
    async (): Promise<Switched> => {
      // As they are now, and not as they are cached.
      const topology = dynamoTopology(work.topologyTable);
      const indexes = await maintainedIndexes(topology, move.datastore);
      if (!hasAllIndexes(move, indexes)) return { isDone: false, move, why: 'an index is new', closedMs: 0 };
      await dropForgotten(clients.target, move, await topology.indexes(move.datastore));
      return switchShard(work, switching, clients);
    },
  );
  if (!held) {
    await work.write(move);
    return FOLLOW_MS;
  }
  if (held.result.isDone) await noteSwitched(work.stateTable, move.datastore, move.shard, { before, epoch });
  return ended(work, held.result, desired);
}

async function ended(work: MoveWork, switched: Switched, desired: MoveRequest | null = null): Promise<number> {
  const { move, closedMs } = switched;
  const closed_ms = closedMs > 0 ? [...move.closed_ms, Math.round(closedMs)].slice(-20) : move.closed_ms;
  if (!switched.isDone) {
    const failures = move.failures + 1;
    const retry_at = Date.now() + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
    const last_error = `not switched yet: ${switched.why}`;
    await work.write({ ...move, step: 'following', failures, retry_at, closed_ms, last_error });
    return FOLLOW_MS;
  }
  work.tellMoved();
  await work.write(
    { ...move, step: 'following', switched_at: new Date().toISOString(), closed_ms, last_error: null },
    desired ?? (move.switches > 1 ? 'reverse' : 'switch'),
  );
  return 0;
}

/** Deletes the copy: on the shard's former group, or on the one that it was to move to. */
async function drop(work: MoveWork, move: Move, clients: MovingClients): Promise<number | undefined> {
  const { source, target } = clients;
  const copy = copyDatabase(move.datastore, move.shard);
  if (!(await endAttempts(work, move, source))) return goOn(work, move, clients);
  await putRight({ topologyTable: work.topologyTable, move, client: target });
  await target.change(forgetShard(move));
  await target.change(dropCopy(copy));
  // Made for the names of a switch.
  if ((await tablesOf(source, copy)).length === 0) await source.change(dropCopy(copy));
  await work.write({ ...move, step: move.switches > 0 ? 'completed' : 'cancelled', last_error: null });
  await endMoving(work.topologyTable, move);
  return void work.tellMoved();
}

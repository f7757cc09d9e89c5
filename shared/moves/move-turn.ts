import type { StoreContext } from '../access/context.ts';
import { requireDatastore } from '../access/groups.ts';
import type { Leases } from '../dynamo/lease.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { underLease } from '../dynamo/under-lease.ts';
import { SchemalessError } from '../errors.ts';
import { maintainedIndexes } from '../index/index-table.ts';
import { SHARD_STEPS } from '../migrate/steps.ts';
import { copyDatabase } from '../shard.ts';
import { quoteName } from '../sql/names.ts';
import { announceCopy, endMoving } from '../topology/moving-shards.ts';
import { makeIndexTable } from './copy-indexes.ts';
import { checkPlaces, compareCopy, comparedAnew, copiedAnew, copyPage, type MovingClients } from './copy-log.ts';
import { hasAllIndexes, keepIndexes } from './keep-indexes.ts';
import type { Move, MoveWish } from './move-item.ts';
import { dropCopy } from './statements/copy-tables.ts';
import { forgetShard, reopenShard, selectShardState, toShardState } from './statements/shard-states.ts';
import { resumeSwitch, switchShard, type SwitchProtections, type Switched } from './switch-shard.ts';

/** What a move is worked on with. */
export interface MoveWork {
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly leases: Leases;
  readonly settings: MoveSettings;
  /** @default all of them */
  readonly protections?: SwitchProtections;
  /** Tells instances that the topology is another one. */
  readonly tellMoved: () => void;
  /** Ends the turn at its next page. */
  readonly signal: AbortSignal;
  /** Whether another move that copies leaves the groups of this one to it. */
  readonly mayCopy: (move: Move) => boolean;
  /** Writes what was done, with the wish that is done with. */
  readonly write: (move: Move, fulfilled?: MoveWish | null) => Promise<void>;
}

export interface MoveSettings {
  /** How long a turn copies before what it did is written. @default 1000 */
  readonly turnMs?: number;
  /** Of its time, how much copying takes: the rest belongs to the groups' own work. @default 0.5 */
  readonly share?: number;
  /**
   * How long writers know of a copy before entries are copied: as long as an instance takes to hear of it. What those
   * write that have not heard of it is brought when the copy has become the shard. @default 3000
   */
  readonly announcedMs?: number;
  /** For how long the entries of a copy count as brought. @default 600,000 */
  readonly indexedForMs?: number;
}

/** A log that lacks no more is followed; a switch copies as much while the shard is closed. */
const NEAR_CELLS = 200;
/** Between looks at a log that is followed. */
const FOLLOW_MS = 200;
const RENEW_MS = 2000;
/** Before a switch that came to nothing is tried again: its writers waited for it. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;

/**
 * One turn of a move: a second of work at most, but for a switch. Everything can be repeated: a turn that was cut off is
 * begun again from what was written last.
 *
 * @returns milliseconds until the next one; undefined where the move has ended
 * @throws SqlError, SchemalessError, what DynamoDB throws: nothing is half done that the next turn does not finish
 */
export async function moveTurn(work: MoveWork, move: Move, wish: MoveWish | null): Promise<number | undefined> {
  const clients: MovingClients = {
    source: await work.context.groups.client(move.from),
    target: await work.context.groups.client(move.to),
  };
  switch (move.step) {
    case 'waiting':
      if (wish === 'cancel' || wish === 'complete') return beginDrop(work, move);
      return work.mayCopy(move) ? prepare(work, move, clients) : FOLLOW_MS;
    case 'copying':
    case 'following':
      if (wish === 'complete' || (wish === 'cancel' && move.switches === 0)) return beginDrop(work, move);
      // It was switched before it could be cancelled.
      if (wish === 'cancel') return done(work, move, wish);
      if (wish === 'verify') return done(work, { ...comparedAnew(move), step: 'copying' }, wish);
      if (isOverdue(move)) return beginDrop(work, move);
      return copyTurn(work, move, wish, clients);
    case 'switching':
      return ended(work, await resumeSwitch(work, move, clients));
    case 'dropping':
      return drop(work, move, clients);
    default:
      return undefined;
  }
}

async function done(work: MoveWork, move: Move, wish: MoveWish): Promise<number> {
  await work.write(move, wish);
  return 0;
}

/** The databases and tables of the copy; then writers are told to keep its entries. */
async function prepare(work: MoveWork, move: Move, { target }: MovingClients): Promise<number> {
  const copy = copyDatabase(move.datastore, move.shard);
  for (const statements of SHARD_STEPS)
    for (const sql of statements(quoteName(copy))) await target.change({ sql, parameters: [] });
  for (const index of await maintainedIndexes(work.context.topology, move.datastore))
    await makeIndexTable(target, copy, index);
  await announceCopy(work.topologyTable, move);
  work.tellMoved();
  await work.write({ ...move, step: 'copying', announced_at: Date.now() });
  return 0;
}

async function copyTurn(
  work: MoveWork,
  given: Move,
  wish: MoveWish | null,
  clients: MovingClients,
): Promise<number | undefined> {
  const { turnMs = 1000, share = 0.5 } = work.settings;
  let move = await checkPlaces(given, clients);
  await openForgotten(move, clients);
  const [since, before] = [performance.now(), move.bytes];
  const isFar = move.head - move.source.at > NEAR_CELLS;
  for (let at = -1; at < move.source.at && performance.now() - since < turnMs && !work.signal.aborted;) {
    at = move.source.at;
    const from = move.head - at > NEAR_CELLS && clients.source.abilities.readsFromReaders ? 'reader' : 'writer';
    move = await copyPage(move, clients, from);
  }
  const role = clients.target.abilities.readsFromReaders && clients.target.nodes > 1 ? 'reader' : 'writer';
  if (work.protections?.compares !== false) move = await compareOrGoBack(move, clients, role);
  const seconds = (performance.now() - since) / 1000;
  move = { ...move, bytes_per_second: isFar ? Math.round((move.bytes - before) / seconds) : move.bytes_per_second };
  const isNear = move.head - move.source.at <= NEAR_CELLS;
  const isWanted = isSwitchWanted(move, wish);
  const indexes = await maintainedIndexes(work.context.topology, move.datastore);
  if (isNear) move = await keepIndexes(move, { clients, indexes, isWanted, signal: work.signal, ...work.settings });
  const isIndexed = hasAllIndexes(move, indexes, work.settings);
  const isCompared = work.protections?.compares === false || move.target.at === move.source.at;
  if (isNear && isIndexed && isCompared) {
    move = { ...move, step: 'following', last_error: isWanted ? move.last_error : null };
    if (isWanted && Date.now() >= move.retry_at) return switchNow(work, move, wish, clients);
  }
  await work.write(move);
  return isNear ? FOLLOW_MS : (performance.now() - since) * (1 / share - 1);
}

/** A copy that differs is begun anew from where it was the same. */
async function compareOrGoBack(move: Move, clients: MovingClients, role: 'writer' | 'reader'): Promise<Move> {
  try {
    return await compareCopy(move, clients, role);
  } catch (error) {
    if (!(error instanceof SchemalessError) || error.code !== 'internal') throw error;
    // Where it was changed is not known.
    return { ...(await copiedAnew(move, clients)), last_error: error.message };
  }
}

/** What a mover that stood still for long may have closed when nobody switched any more. */
async function openForgotten(move: Move, { source }: MovingClients): Promise<void> {
  const row = toShardState(await source.select(selectShardState(move), 'writer'));
  if (row?.state === 'moving') await source.change(reopenShard(move, row.epoch));
}

function isSwitchWanted(move: Move, wish: MoveWish | null): boolean {
  return wish === 'switch' || wish === 'reverse' || (move.switchesAlone && move.switches === 0);
}

function isOverdue({ switches, switched_at, complete_after_seconds }: Move): boolean {
  return (
    switches > 0 &&
    complete_after_seconds !== null &&
    switched_at !== null &&
    Date.now() - Date.parse(switched_at) >= complete_after_seconds * 1000
  );
}

/** Under the migration's lease: no index gets a table, or loses one, meanwhile. */
async function switchNow(
  work: MoveWork,
  move: Move,
  wish: MoveWish | null,
  clients: MovingClients,
): Promise<number | undefined> {
  const { homes } = await requireDatastore(work.context.topology, move.datastore);
  const epoch = Math.max(homes[move.shard]?.epoch ?? 0, move.epoch) + 1;
  const switching: Move = { ...move, step: 'switching', epoch };
  const held = await underLease(
    { leases: work.leases, name: 'migrate', renewMs: RENEW_MS, isExclusive: true, signal: work.signal },
    async () => {
      // What was not there a moment ago.
      work.context.topology.refresh();
      const indexes = await maintainedIndexes(work.context.topology, move.datastore);
      if (!hasAllIndexes(move, indexes, work.settings)) return { isDone: false as const, move, why: 'an index is new' };
      await work.write(switching);
      return switchShard(work, switching, clients);
    },
  );
  if (!held) {
    await work.write(move);
    return FOLLOW_MS;
  }
  return ended(work, held.result, wish);
}

async function ended(work: MoveWork, switched: Switched, wish: MoveWish | null = null): Promise<number> {
  if (!switched.isDone) {
    const failures = switched.move.failures + 1;
    const retry_at = Date.now() + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
    const last_error = `not switched yet: ${switched.why}`;
    await work.write({ ...switched.move, step: 'following', failures, retry_at, last_error });
    return FOLLOW_MS;
  }
  work.tellMoved();
  const { move, closedMs } = switched;
  const closed_ms = [...move.closed_ms, Math.round(closedMs)].slice(-20);
  await work.write(
    { ...move, step: 'following', switched_at: new Date().toISOString(), closed_ms, last_error: null },
    wish ?? (move.switches > 1 ? 'reverse' : 'switch'),
  );
  return 0;
}

async function beginDrop(work: MoveWork, move: Move): Promise<number> {
  await work.write({ ...move, step: 'dropping' });
  return 0;
}

/** What was the shard's former place, or was to be its next one, keeps nothing of it. */
async function drop(work: MoveWork, move: Move, { source, target }: MovingClients): Promise<undefined> {
  await openForgotten(move, { source, target });
  await target.change(forgetShard(move));
  await target.change(dropCopy(copyDatabase(move.datastore, move.shard)));
  await work.write({ ...move, step: move.switches > 0 ? 'completed' : 'cancelled', last_error: null });
  await endMoving(work.topologyTable, move);
  work.tellMoved();
}

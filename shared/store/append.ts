import { setTimeout as sleep } from 'node:timers/promises';
import type { EncodedCell } from '../sql/encoded-cell.ts';
import type { CellAddress } from '../cell.ts';
import { isOfColumns } from '../address.ts';
import { SchemalessError } from '../errors.ts';
import { SqlError, type Moved, type SqlChange, type SqlClient, type SqlRow, type Statement } from '../sql/client.ts';
import {
  appendRestored,
  areRestored,
  appendCell,
  appendCells,
  type ShardFence,
} from '../sql/statements/append-cells.ts';
import { dropOldNotifications } from '../sql/drop-notifications.ts';
import { notifyFollowers } from '../sql/statements/notifications.ts';
import type { StoreContext } from '../access/context.ts';
import { requireDatastore, homeOf } from '../access/groups.ts';
import { isGone } from '../sql/gone.ts';
import type { DeployedTrigger, ShardHome } from '../topology/topology.ts';
import { judge, type AppendResult } from './append-result.ts';
import { checkingErasures, lookUpMet } from './erasure-checks.ts';

export interface Appended {
  readonly results: readonly AppendResult[];
  readonly epoch: number;
  readonly group: string;
  readonly rows?: readonly (readonly SqlRow[])[];
}

export type AppendOptions = Pick<ShardFence, 'anyWriter'> & Pick<Statement, 'readAfter'>;

/** The first try, and one on a fresh connection. */
const TRIES = 2;
/** A MariaDB snapshot may hide a cell that an append met for a moment. */
export const POLLS = 5;
/** After so many empty polls nothing is there. */
export const SURE_POLLS = 3;
export const POLL_PAUSE_MS = 4;
const CONTENTION_PAUSE_MS = 20;
/** How long an append that is done waits for its notification. */
const NOTIFY_MS = 50;

/**
 * Appends cells to one shard of its primary, and returns the outcome of each. An unclear end is retried once, so that a
 * dead socket does not buffer a healthy write; the append leaves out what the first try stored. A shard found closed,
 * moved or gone is tried where it is now. `cells`: of this shard, no address twice. Throws SqlError or SchemalessError
 * when the primary failed; `unclear`: the cells may be there.
 */
export function appendToPrimary(
  context: StoreContext,
  datastore: string,
  shard: number,
  cells: readonly EncodedCell[],
  options: AppendOptions = {},
): Promise<Appended> {
  return onPrimary(context, { datastore, shard, cells }, options, appendOnce);
}

export interface AppendedTo {
  readonly datastore: string;
  readonly shard: number;
  readonly cells: readonly EncodedCell[];
}

/** Appends by `once` on the primary, with the retries of `appendToPrimary`. Throws as it does. */
export async function onPrimary<Done>(
  context: StoreContext,
  { datastore, shard, cells }: AppendedTo,
  { anyWriter = false, readAfter }: AppendOptions,
  appendOnce: (
    client: SqlClient,
    fence: ShardFence,
    cells: readonly EncodedCell[],
    once: AppendOnce,
  ) => Promise<Done | 'unchecked' | 'elsewhere'>,
): Promise<Exclude<Done, 'unchecked' | 'elsewhere'> & { readonly group: string }> {
  const isFollowed = areWanted(await context.topology.triggers(datastore), cells);
  const opening = whenOpened(context, datastore, shard);
  let failures = 0;
  /** The first try whose end is unknown: whatever comes after it, the cells may be there. */
  let unclear: SqlError | undefined;
  for (let isRepeated = false; ; isRepeated = true) {
    const known = await requireDatastore(context.topology, datastore).catch((error: unknown) => {
      throw unclear ?? error;
    });
    const home = homeOf(known, shard);
    const fence: ShardFence = { datastore, shard, epoch: home.epoch, anyWriter };
    try {
      const client = await context.groups.client(home.group);
      const once = { readAfter, isFollowed, isRepeated, wasUnclear: unclear !== undefined };
      const done = await checkingErasures(context, client, { fence, cells }, (checked) =>
        appendOnce(client, checked, cells, once),
      );
      if (done !== 'elsewhere') return { ...(done as Exclude<Done, 'unchecked' | 'elsewhere'>), group: home.group };
    } catch (error) {
      if (!isGone(error)) {
        failures += 1;
        if (error instanceof SqlError && error.failure === 'unclear') unclear ??= error;
        if (failures >= TRIES || !(error instanceof SqlError) || error.failure === 'rejected') throw unclear ?? error;
        // A random pause: writers that met at a lock must not meet there again.
        if (error.failure === 'contention') await sleep(CONTENTION_PAUSE_MS * (0.5 + Math.random()));
        if (error.failure === 'duplicate') context.report({ kind: 'added_id_taken', datastore, shard });
        continue;
      }
    }
    await opening(home).catch((error: unknown) => {
      throw unclear ?? error;
    });
  }
}

/** Whether a trigger wants one of the cells. Others wait for a slow poll, which spares followers reads. */
export function areWanted(
  triggers: readonly Pick<DeployedTrigger, 'definition'>[],
  cells: readonly CellAddress[],
): boolean {
  return triggers.some(({ definition: { columns } }) => !columns || cells.some((cell) => isOfColumns(cell, columns)));
}

export interface AppendOnce {
  readonly readAfter: Statement['readAfter'];
  readonly isFollowed: boolean;
  readonly isRepeated: boolean;
  /** An earlier try ended unclear: it may have stored the cells, or store them later. */
  readonly wasUnclear: boolean;
}

type AppendedHere = Omit<Appended, 'group'>;

/** Appends once. `elsewhere`: this group does not own the shard at this epoch; `unchecked` as in `checkingErasures`. */
async function appendOnce(
  client: SqlClient,
  fence: ShardFence,
  cells: readonly EncodedCell[],
  once: AppendOnce,
): Promise<AppendedHere | 'unchecked' | 'elsewhere'> {
  const change = await sendAppend(client, fence, statementOf(fence, cells), once);
  const { cells: count, at } = change.among ?? { cells: cells.length, at: 0 };
  if (change.affectedRows === count) {
    const first = change.insertId - count + 1 + at;
    const results = cells.map((_, position): AppendResult => ({
      outcome: 'stored',
      shard: fence.shard,
      added_id: first + position,
    }));
    return { results, epoch: fence.epoch, ...(change.rows && { rows: change.rows }) };
  }
  for (let poll = 1; poll <= POLLS; poll += 1) {
    if (poll > 1) await sleep(POLL_PAUSE_MS * poll);
    const { found, isUnchecked } = await lookUpMet(client, fence, cells);
    if (isUnchecked && change.affectedRows === 0) return 'unchecked';
    if (found.every((cell) => cell !== undefined)) {
      const results = found.map((cell, position) => judge(cell, fence.shard, cells[position] as EncodedCell, change));
      // The rows read after the append came before this poll.
      return { results, epoch: fence.epoch };
    }
    // None is there and none was inserted: the shard's row did not match.
    if (poll >= SURE_POLLS && change.affectedRows === 0 && found.every((cell) => cell === undefined))
      return 'elsewhere';
  }
  if (change.affectedRows === 0) return 'elsewhere';
  throw new SqlError('unclear', 'cells that an append met, or wrote, cannot be seen');
}

/** Sends an append with its reads after the commit, and notifies followers. */
export async function sendAppend(
  client: SqlClient,
  fence: ShardFence,
  append: Statement,
  { readAfter, isFollowed, isRepeated }: AppendOnce,
): Promise<SqlChange> {
  const isToNotify = isFollowed && client.abilities.hasNotifications === true;
  const change = await client.change({
    ...append,
    ...(readAfter && { readAfter }),
    ...(isToNotify && { moves: fence }),
  });
  if (isToNotify && !change.hasNotified && (change.affectedRows > 0 || isRepeated)) await notify(client, fence);
  if (change.affectedRows > 0 && change.insertId < change.affectedRows)
    throw new SqlError(
      'unclear',
      `an append of ${change.affectedRows} cells was told ${change.insertId} as its last added id: a trigger of the table, or a proxy, leaves it out`,
    );
  return change;
}

function statementOf(fence: ShardFence, cells: readonly EncodedCell[]): Statement {
  if (areRestored(cells)) return appendRestored(fence, cells);
  const [only] = cells;
  return cells.length === 1 && only ? appendCell(fence, only) : appendCells(fence, cells);
}

/** Notifies followers independently of the append. Waits briefly: without it their slow poll finds the cells. */
async function notify(client: SqlClient, moved: Moved): Promise<void> {
  const notified = client.change(notifyFollowers([moved])).catch(() => undefined);
  const change = await Promise.race([notified, sleep(NOTIFY_MS, undefined)]);
  if (change) dropOldNotifications(client, change.insertId);
}

/** How long a write waits for a shard that is being moved: a slower switch is given up. */
const HOLD_MS = 300;
const POLL_EVERY_MS = 12;
/** After a shard stayed closed for `HOLD_MS` no write waits for it for this time. */
const REST_MS = 2000;
/** One poll of the topology is enough for many writers. */
const REFRESH_MS = 8;

/**
 * Handles a shard found closed or gone: finds where it is now. Waits for one that is being moved; later writes to it
 * fail at once, and are buffered. Returns a function that takes the home tried, and resolves when to retry. Throws
 * SchemalessError `unavailable` if the shard takes no appends for longer.
 */
function whenOpened(context: StoreContext, datastore: string, shard: number): (tried: ShardHome) => Promise<void> {
  const { topology, found } = context;
  const { closed } = found;
  let since: number | undefined;

  return async (tried) => {
    const now = performance.now();
    if (since === undefined) {
      since = now;
      topology.refresh(POLL_EVERY_MS);
      context.report({ kind: 'topology_refreshed', datastore, shard });
      // It may have been opened since: one more poll even without a copy.
      return;
    }
    const name = `${datastore}/${shard}`;
    const home = homeOf(await requireDatastore(topology, datastore), shard);
    const isElsewhere = home.group !== tried.group || home.epoch !== tried.epoch;
    const isHeld = now - since < HOLD_MS;
    if (isElsewhere && isHeld) return;
    if (!home.copy || !isHeld || closed.has(name)) {
      if (home.copy && !isHeld) closed.keep(name, REST_MS);
      throw new SchemalessError(
        'unavailable',
        `shard ${shard} of ${datastore} is closed, being moved, or being brought back from the buffers`,
      );
    }
    await sleep(POLL_EVERY_MS * (0.75 + Math.random() / 2));
    topology.refresh(REFRESH_MS);
  };
}

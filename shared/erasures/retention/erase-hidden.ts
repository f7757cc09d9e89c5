import type { StoreContext } from '../../access/context.ts';
import { homeOf, requireDatastore } from '../../access/groups.ts';
import { scopeOf, shardDatabase } from '../../address.ts';
import { retentionOf, shownRetention, type RetentionRules } from '../../sql/hidden-cells.ts';
import { carryOut, newErasure } from '../carry-out.ts';
import type { ErasureWork, Patience } from '../erasure-work.ts';
import { RETENTION } from '../erasure-cell.ts';
import { retentionId } from './retained.ts';
import {
  selectColumnStates,
  toColumnStates,
  type ColumnFrom,
  type ColumnState,
} from '../statements/select-column-state.ts';
import type { OpenPart } from './retention-place.ts';
import { selectPlaced, selectPlacedInBuffer, toPlaced } from '../statements/select-placed.ts';

/** A shard in which something is looked for. */
export interface ShardAt {
  readonly datastore: string;
  readonly shard: number;
  /** As they are now, past every cache. */
  readonly rules: RetentionRules;
}

/** Versions of a column that are looked at together, and columns of one statement. */
export const VERSIONS_AT_ONCE = 200;
export const COLUMNS_AT_ONCE = 20;

/** Characters that are kept of what a part waits for: many parts are written down together. */
const WHY_LENGTH = 200;

/** The lowest versions of some columns, on the writer. */
export async function readColumnStates(
  context: StoreContext,
  at: ShardAt,
  columns: readonly ColumnFrom[],
): Promise<readonly ColumnState[]> {
  const { group } = homeOf(await requireDatastore(context.topology, at.datastore), at.shard);
  const client = await context.groups.client(group);
  const rows = await client.select(selectColumnStates(at, columns, VERSIONS_AT_ONCE), 'writer');
  return toColumnStates(rows, columns.length);
}

export interface PartDone {
  readonly column: string;
  readonly cells: number;
  readonly bytes: number;
  /** What it waits for; null: it is done everywhere. */
  readonly waits_for: string | null;
}

/** Erases a part by the way of every erasure, without a record of its own. */
export async function erasePart(
  work: ErasureWork,
  { datastore, shard, rules }: ShardAt,
  { target }: Pick<OpenPart, 'target'>,
  patience: Patience,
): Promise<PartDone> {
  const { row_key, column_name = '', ref_key = null, up_to = null, beyond } = target;
  const erasure = newErasure({
    id: retentionId(datastore, column_name),
    scope: scopeOf(target),
    row_key,
    column_name,
    ref_key,
    up_to,
    shard,
    reason: reasonOf(rules, column_name),
    requested_by: RETENTION,
  });
  const { state, waits_for, erased } = await carryOut(work, datastore, erasure, patience, beyond);
  return {
    column: column_name,
    ...erased,
    waits_for: state === 'erased' ? null : (waits_for ?? 'nobody knows what').slice(0, WHY_LENGTH),
  };
}

/** `retention: STATUS, keep_versions 10, keep_for 90d` */
function reasonOf(rules: RetentionRules, column: string): string {
  const rule = retentionOf(rules, column);
  const { keep_versions, keep_for_seconds } = rule ? shownRetention(rule) : {};
  const bounds = [
    ...(keep_versions === undefined ? [] : [`the last ${keep_versions} versions are kept`]),
    ...(keep_for_seconds === undefined ? [] : [`cells are kept for ${keep_for_seconds} s`]),
  ];
  return `retention: ${bounds.join(', ') || 'by a rule that is gone'}`;
}

/** Parts whose erasure has a place, or comes to one, and those that nobody knows of. */
interface Beginning {
  readonly begun: readonly OpenPart[];
  readonly notBegun: readonly OpenPart[];
}

/**
 * Tells parts apart that were written down: those whose erasure is in the log, or in a buffer of any group, from where it
 * comes to the log whatever is thought of it by now.
 *
 * Of those that are not in the log nothing is told while a group does not answer: neither list has them.
 */
export async function beginningOf(
  context: StoreContext,
  { datastore, shard }: Pick<ShardAt, 'datastore' | 'shard'>,
  parts: readonly OpenPart[],
): Promise<Beginning> {
  if (parts.length === 0) return { begun: [], notBegun: [] };
  const { group } = homeOf(await requireDatastore(context.topology, datastore), shard);
  const database = shardDatabase(datastore, shard);
  const targets = parts.map(({ target }) => target);
  const primary = await context.groups.client(group);
  const inLog = async (): Promise<readonly number[]> =>
    toPlaced(await primary.select(selectPlaced(database, targets), 'writer'));
  const placed = new Set(await inLog());
  let isKnown = true;
  if (placed.size < parts.length) {
    const inBuffers = (await context.groups.namesNow()).map(async (other) => {
      const client = await context.groups.client(other);
      return toPlaced(await client.select(selectPlacedInBuffer(datastore, targets), 'writer'));
    });
    for (const answer of await Promise.allSettled(inBuffers)) {
      if (answer.status === 'rejected') isKnown = false;
      else for (const position of answer.value) placed.add(position);
    }
    // What was on its way from a buffer is in the log by now.
    for (const position of await inLog()) placed.add(position);
  }
  return {
    begun: parts.filter((_, position) => placed.has(position)),
    notBegun: isKnown ? parts.filter((_, position) => !placed.has(position)) : [],
  };
}

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
import type { OpenPart } from './retention-offset.ts';
import { selectPlaced, selectPlacedInBuffer, toPlaced } from '../statements/select-placed.ts';

/** A shard that retention searches. */
export interface ShardAt {
  readonly datastore: string;
  readonly shard: number;
  /** Read past every cache. */
  readonly rules: RetentionRules;
}

/** The most versions of a column, and columns, that one statement reads. */
export const VERSIONS_AT_ONCE = 200;
export const COLUMNS_AT_ONCE = 20;

/** The most characters of a part's reason to wait: one item has many parts. */
const WHY_LENGTH = 200;

/** Reads the lowest versions of some columns from the writer. */
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
  /** Why it waits; null: it is done everywhere. */
  readonly waits_for: string | null;
}

/** Erases a part like any erasure, without a record. */
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
    waits_for: state === 'erased' ? null : (waits_for ?? 'unknown').slice(0, WHY_LENGTH),
  };
}

/** Returns `retention: the last 10 versions are kept, cells are kept for 7776000 s`. */
function reasonOf(rules: RetentionRules, column: string): string {
  const rule = retentionOf(rules, column);
  const { keep_versions, keep_for_seconds } = rule ? shownRetention(rule) : {};
  const bounds = [
    ...(keep_versions === undefined ? [] : [`the last ${keep_versions} versions are kept`]),
    ...(keep_for_seconds === undefined ? [] : [`cells are kept for ${keep_for_seconds} s`]),
  ];
  return `retention: ${bounds.join(', ') || 'by a rule that is gone'}`;
}

/**
 * Splits recorded parts by whether their erasure has begun. It has if it is in the log, or in a buffer of any group,
 * from where the drain appends it in any case.
 *
 * While a group does not answer, neither list has the parts that were not found.
 */
export async function beginningOf(
  context: StoreContext,
  { datastore, shard }: Pick<ShardAt, 'datastore' | 'shard'>,
  parts: readonly OpenPart[],
) {
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
    // An erasure on its way from a buffer is in the log by now.
    for (const position of await inLog()) placed.add(position);
  }
  return {
    begun: parts.filter((_, position) => placed.has(position)),
    notBegun: isKnown ? parts.filter((_, position) => !placed.has(position)) : [],
  };
}

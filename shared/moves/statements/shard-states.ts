import { toNumber, toText } from '../../sql/cell-rows.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';
import { NOBODY } from '../../sql/statements/record-writer.ts';
import { CONTROL } from '../../sql/names.ts';
import type { MovingShard } from '../../topology/moving-shards.ts';

/**
 * The row of a shard on a group says whether it takes appends there: only `open` does.
 *
 * - `moving`: closed on the old group, for the moment that a switch takes.
 * - `moved`: on a group that holds the copy.
 * - `arriving`: on the new group, until the old one cannot answer for it any more.
 */
const WHICH = 'WHERE datastore = ? AND shard = ?';

/** No other server than the one that answers was the writer of the shard: it has every acknowledged cell. */
const IS_WHOLE = '(writer_id IS NULL OR writer_id = @@server_id)';

export interface RawShardRow {
  readonly epoch: number;
  readonly state: string;
  readonly first_id: number;
  readonly step: number;
  /** The server that answers has every acknowledged cell of the shard. */
  readonly isWhole: boolean;
  /** Appends to the shard have to check for erasures. */
  readonly hasErasures: boolean;
  /** The last attempt that closed or reopened the shard. */
  readonly closedBy: string;
}

export function selectShardState({ datastore, shard }: MovingShard): Statement {
  return {
    sql: `SELECT epoch, state, first_id, step, ${IS_WHOLE}, has_erasures, closed_by FROM ${CONTROL}.shard ${WHICH}`,
    parameters: [datastore, shard],
  };
}

export function toShardState([row]: readonly SqlRow[]): RawShardRow | undefined {
  return (
    row && {
      epoch: toNumber(row[0]),
      state: toText(row[1]),
      first_id: toNumber(row[2]),
      step: toNumber(row[3]),
      isWhole: toNumber(row[4]) === 1,
      hasErasures: toNumber(row[5]) === 1,
      closedBy: toText(row[6]),
    }
  );
}

/**
 * Closes a shard for appends, after the one under way. Changes nothing if the writer may lack acknowledged cells, or if
 * an attempt closed or reopened the shard since it was read.
 */
export function closeShard(
  { datastore, shard }: MovingShard,
  { epoch, closedBy }: Pick<RawShardRow, 'epoch' | 'closedBy'>,
  attempt: string,
): Statement {
  return {
    sql: `UPDATE ${CONTROL}.shard SET state = 'moving', closed_by = ? ${WHICH} AND epoch = ? AND state = 'open' AND closed_by = ? AND ${IS_WHOLE}`,
    parameters: [attempt, datastore, shard, epoch, closedBy],
  };
}

/** Reopens a shard as it was read (`closedBy`). Attempts that read it before cannot close it afterwards. */
export function reopenShard({ datastore, shard }: MovingShard, closedBy: string, attempt: string): Statement {
  return {
    sql: `UPDATE ${CONTROL}.shard SET state = 'open', closed_by = ? ${WHICH} AND state IN ('open', 'moving') AND closed_by = ?`,
    parameters: [attempt, datastore, shard, closedBy],
  };
}

/** The group holds the copy from now on. */
export function leaveShard({ datastore, shard }: MovingShard, epoch: number): Statement {
  return {
    sql: `UPDATE ${CONTROL}.shard SET state = 'moved' ${WHICH} AND epoch < ? AND state <> 'moved'`,
    parameters: [datastore, shard, epoch],
  };
}

/** Makes the row of a shard that is about to come; one of the same or a higher epoch stays as it is. */
export function arriveShard(
  { datastore, shard }: MovingShard,
  epoch: number,
  { first_id, step }: Pick<RawShardRow, 'first_id' | 'step'>,
): Statement {
  return {
    sql:
      `INSERT INTO ${CONTROL}.shard (datastore, shard, epoch, state, first_id, step, writer_id) VALUES (?, ?, ?, 'arriving', ?, ?, NULL) ` +
      // The epoch last: the assignments before are to see what it was.
      `ON DUPLICATE KEY UPDATE state = IF(epoch < VALUES(epoch), 'arriving', state), first_id = IF(epoch < VALUES(epoch), VALUES(first_id), first_id), ` +
      `step = GREATEST(step, VALUES(step)), writer_id = IF(epoch < VALUES(epoch), NULL, writer_id), epoch = GREATEST(epoch, VALUES(epoch))`,
    parameters: [datastore, shard, epoch, first_id, step],
  };
}

/**
 * Lets a shard that has come take appends. `isBound`: to the server that answers, which every node of its group was
 * compared with; `nobody`: it takes none before it was asked what it lacks. `hasErasures`: something of it was erased,
 * or may have been @default it is as it was.
 */
export function openShard(
  { datastore, shard }: MovingShard,
  epoch: number,
  isBound: boolean | 'nobody',
  hasErasures = false,
): Statement {
  const writer = isBound === 'nobody' ? NOBODY : isBound ? '@@server_id' : 'NULL';
  return {
    sql: `UPDATE ${CONTROL}.shard SET state = 'open', writer_id = ${writer}${hasErasures ? ', has_erasures = 1' : ''} ${WHICH} AND epoch >= ? AND state = 'arriving'`,
    parameters: [datastore, shard, epoch],
  };
}

/** Forgets a shard on a group that held its copy. */
export function forgetShard({ datastore, shard }: MovingShard): Statement {
  return {
    sql: `DELETE FROM ${CONTROL}.shard ${WHICH} AND state IN ('moved', 'arriving')`,
    parameters: [datastore, shard],
  };
}
